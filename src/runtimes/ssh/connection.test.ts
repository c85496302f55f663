import { describe, expect, test } from 'vitest'
import { type Connection, isPlainPath, sshArgv } from './connection.ts'
import { explainSsh } from './explain-ssh.ts'

const board: Connection = {
  destination: 'root@board',
  port: null,
  identity: null,
  knownHosts: null,
  silenceSeconds: 60,
  control: null,
}

describe('what ssh is started with', () => {
  test('asks nobody, forwards nothing, trusts only known keys, and ends its options before the address', () => {
    const argv = sshArgv(board, 'sh')
    const settings = argv.filter((_, i) => argv[i - 1] === '-o')
    expect(settings).toEqual(
      expect.arrayContaining([
        'BatchMode=yes',
        'StrictHostKeyChecking=yes',
        'ForwardAgent=no',
        'ClearAllForwardings=yes',
        'PermitLocalCommand=no',
        'ControlMaster=no',
        'ServerAliveInterval=20',
      ]),
    )
    expect(argv.slice(-3)).toEqual(['--', 'root@board', 'sh'])
  })

  test('has files and port where they are given, with what ssh would replace in them kept', () => {
    const argv = sshArgv(
      { ...board, port: '2222', identity: '/k/100%', knownHosts: '/a b/%h', control: '/s' },
      'sh',
      'first',
    )
    expect(argv.slice(-9, -3)).toEqual(['-S', '/s', '-p', '2222', '-i', '/k/100%%'])
    expect(argv).toContain('UserKnownHostsFile="/a b/%%h"')
    expect(argv).toContain('IdentitiesOnly=yes')
    expect(argv).toContain('ControlMaster=yes')
  })

  test('takes no file that ssh would read as something else', () => {
    expect(['/a b/c', "/it's", '/ü'].map(isPlainPath)).toEqual([true, true, true])
    expect(['/a"b', '/a\\b', `/$\{HOME}`, '/a\nb'].map(isPlainPath)).toEqual([false, false, false, false])
  })
})

describe('what ssh says when it cannot connect', () => {
  test.each([
    ['ssh: Could not resolve hostname board: Name or service not known', 'there is no host "board"'],
    [
      'ssh: connect to host board port 22: Connection refused',
      'nothing answers at board, port 22 (connection refused)',
    ],
    ['ssh: connect to host board port 22: Connection timed out', 'board, port 22 cannot be reached (timed out)'],
    ['ssh: connect to host board port 22: No route to host', 'cannot be reached (no route to host)'],
    ['root@board: Permission denied (publickey).', 'root@board does not accept your keys'],
    [
      'Host key verification failed.',
      'the host key of board is not in ~/.ssh/known_hosts; add it with ssh-keyscan board',
    ],
    ['WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.', 'is not the one in'],
    ['Bad configuration option: \u001b[31mfoo', 'ssh could not reach root@board: Bad configuration option: foo'],
    ['', 'ssh could not reach root@board: it said nothing'],
  ])('%j is explained', (said, explained) => {
    expect(explainSsh(said, board)).toContain(explained)
  })
})
