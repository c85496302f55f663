import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildModel } from '../../src/onnx/builder.ts'
import { assay, project, temporaryFolder } from '../support/assay.ts'
import { until } from '../support/events.ts'
import { describeWith, testWith } from '../support/needs.ts'
import { Board, canServe, describeWithBoard, runnerOf } from '../support/sshd.ts'

const identity = buildModel({
  inputs: [{ name: 'x', dtype: 'float32', shape: [4] }],
  outputs: [{ name: 'y', dtype: 'float32', shape: [4] }],
  nodes: [{ op: 'Identity', inputs: ['x'], outputs: ['y'] }],
})

/** A folder with an `ssh` that only says that it was started. */
function tellTale(): { path: string; wasStarted: () => boolean } {
  const folder = temporaryFolder('ssh')
  const mark = join(folder, 'started')
  writeFileSync(join(folder, 'ssh'), `#!/bin/sh\n: >'${mark}'\nexit 255\n`, { mode: 0o755 })
  return { path: `${folder}${delimiter}${process.env.PATH}`, wasStarted: () => existsSync(mark) }
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ')

describe('what is refused before ssh starts', () => {
  const hosts = [
    '-oProxyCommand=touch pwned',
    'root@-oProxyCommand=touch pwned',
    'host;touch pwned',
    'host$(touch pwned)',
    'host`touch pwned`',
    'host touch pwned',
    "host'",
    'host"',
    'host\ntouch pwned',
    'host\u0007',
    'host|touch pwned',
  ]
  test.each(hosts)('%j as a board', async (host) => {
    const folder = project({ 'm.onnx': identity })
    const { path, wasStarted } = tellTale()
    const others = [
      ['test', 'm.onnx', '--target', 'ssh,program=runner', '--board', host],
      ['boards', 'free', '--', host],
    ]
    const isFirst = host === hosts[0]
    for (const args of [['test', 'm.onnx', '--target', `ssh:${host},program=runner`], ...(isFirst ? others : [])]) {
      const { code, stdout, stderr } = await assay(args, folder, { PATH: path })
      expect([code, stdout]).toEqual([4, ''])
      expect(stderr).toMatch(/^assay: the board ".*" is refused.*; expected \[user@\]host.*\n$/)
      expect(stderr).not.toContain('\u0007')
    }
    expect([wasStarted(), existsSync(join(folder, 'pwned'))]).toEqual([false, false])
  })

  test.each([
    ['program=run\nner', 'program=run\\nner of an ssh target; expected no control characters; it has \\n'],
    ['program=x,prot=22', 'did you mean "port"?'],
    ['program=x,board=other', 'names two boards, root@host and board=other; leave one out'],
  ])('%j of a target', async (options, message) => {
    const folder = project({ 'm.onnx': identity })
    const { path, wasStarted } = tellTale()
    const target = `ssh:root@host,${options}`
    // No command line can hold a NUL.
    const config = JSON.stringify({ targets: { odd: target } })
    writeFileSync(join(folder, 'assay.config.json'), config)
    const { code, stderr } = await assay(['test', 'm.onnx', '--target', 'odd'], folder, { PATH: path })
    expect(code, stderr).toBe(4)
    expect(stderr).toContain(message)
    expect(wasStarted()).toBe(false)
  })

  test('no address at all, a port in it, and a file that is not there', async () => {
    const folder = project({ 'm.onnx': identity })
    const { path, wasStarted } = tellTale()
    const said = async (...args: string[]) => {
      const { stderr, stdout } = await assay(['test', 'm.onnx', ...args], folder, { PATH: path })
      return oneLine(stderr + stdout)
    }
    expect(await said('--target', 'npu=ssh,program=x')).toContain(
      'target "npu" names no board; write ssh:user@host, or give it for all with --board user@host',
    )
    expect(await said('--target', 'ssh:root@host:2222,program=x')).toContain('the port is given as port=2222')
    expect(await said('--target', 'ssh,program=x', '--board', ',')).toContain('the board "" is refused')
    expect(wasStarted()).toBe(false)
  })
})

await describeWithBoard('a board that cannot be used', (board) => {
  const folder = project({ 'm.onnx': identity })
  const reasonOf = async (spec: string, env: Record<string, string> = {}) => {
    const { code, stdout } = await assay(['test', 'm.onnx', '--target', `b=${spec}`], folder, env)
    expect(code).toBe(1)
    return oneLine(/is not available: (.*)/.exec(stdout)?.[1] ?? stdout)
  }

  test('its host key has changed, or is unknown', async () => {
    const key = join(board.folder, 'other-key')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    board.trust(`${key}.pub`)
    const listed = await assay(['boards', board.spec], folder)
    expect([listed.code, oneLine(listed.stdout)]).toEqual([1, expect.stringContaining('is not the one in')])
    expect(await reasonOf(`${board.spec},${runnerOf()}`)).toMatch(
      /^the host key of \[127\.0\.0\.1\]:\d+ is not the one in .*known_hosts; either the board was reinstalled or this is another machine\. If it is the board: ssh-keygen -R '\[127\.0\.0\.1\]:\d+' -f .*, then ssh-keyscan -p \d+ 127\.0\.0\.1 >> /,
    )
    expect(board.blobs()).toEqual([])
    rmSync(board.knownHosts)
    expect(await reasonOf(`${board.spec},${runnerOf()}`)).toMatch(
      /^the host key of \[127\.0\.0\.1\]:\d+ is not in .*known_hosts; add it with ssh-keyscan -p \d+ 127\.0\.0\.1 >> /,
    )
    expect(existsSync(board.knownHosts)).toBe(false)
    board.trust(join(board.folder, 'host-key.pub'))
  })

  test('there is no such host, nobody listens, the key is not accepted or not there', async () => {
    expect(await reasonOf('ssh:nobody.invalid,program=x')).toContain('there is no host "nobody.invalid"')
    expect(await reasonOf('ssh:127.0.0.1,port=1,program=x')).toContain(
      'nothing answers at 127.0.0.1, port 1 (connection refused)',
    )
    const key = join(board.folder, 'stranger')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    const stranger = board.spec.replace(board.identity, key)
    expect(await reasonOf(`${stranger},program=x`)).toMatch(/ does not accept the key .*stranger .*ssh-copy-id -p /)
    const open = join(board.folder, 'open-key')
    writeFileSync(open, readFileSync(board.identity), { mode: 0o644 })
    chmodSync(open, 0o644)
    expect(await reasonOf(`${board.spec.replace(board.identity, open)},program=x`)).toMatch(
      /because others can read it; run chmod 600 on it/,
    )
    expect(await reasonOf('ssh:127.0.0.1,program=x', { PATH: temporaryFolder('no ssh') })).toContain(
      'there is no ssh in PATH',
    )
  })

  test('what is to be deployed is not there, or leads out of its folder', async () => {
    expect(await reasonOf(`${board.spec},deploy=nope`)).toMatch(/deploy=.*nope is neither a file nor a folder/)
    mkdirSync(join(folder, 'runner'))
    symlinkSync('/etc/hostname', join(folder, 'runner/secret'))
    expect(await reasonOf(`${board.spec},program=x,deploy=runner`)).toMatch(/secret leads out of /)
    expect(await reasonOf(`${board.spec},program=x,env=NOT_SET_AT_ALL`)).toContain(
      'env=NOT_SET_AT_ALL: it is not set here',
    )
    await until(() => board.isLeftClean(), 'the board is as it was')
  })

  test('its folder cannot be written', async () => {
    expect(await reasonOf(`${board.spec},${runnerOf()},folder=/proc/assay`)).toMatch(
      /cannot write to \/proc\/assay on the board .*choose another place with folder=/,
    )
  })
})

describeWith('sshd', canServe, 'a poor board', () => {
  /** A board whose PATH has only these tools, and others in place of them. */
  async function boardWith(tools: readonly string[], scripts: Record<string, string> = {}): Promise<Board> {
    const folder = temporaryFolder('tools')
    for (const tool of tools) {
      const found = execFileSync('sh', ['-c', `command -v ${tool} || true`], { encoding: 'utf8' }).trim()
      if (found.startsWith('/')) symlinkSync(found, join(folder, tool))
    }
    for (const [name, text] of Object.entries(scripts)) writeFileSync(join(folder, name), text, { mode: 0o755 })
    const start = join(folder, 'start-session')
    writeFileSync(start, `#!/bin/sh\nPATH='${folder}'\nexport PATH\nexec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n`, {
      mode: 0o755,
    })
    return Board.start([`ForceCommand "${start}"`])
  }

  const TOOLS =
    'sh cat mkdir mktemp mv rm rmdir ls ln cp chmod touch grep sed cut tr head tail df du uname sleep date id sync tar setsid node'.split(
      ' ',
    )

  async function judge(board: Board) {
    const folder = project({ 'm.onnx': identity })
    const { stdout } = await assay(['test', 'm.onnx', '--target', `b=${board.spec},${runnerOf()}`], folder)
    await until(() => board.isLeftClean(), 'the board is as it was')
    return oneLine(stdout)
  }

  test('without any program for sha256 is an error that says so; openssl will do', async () => {
    expect(await judge(await boardWith(TOOLS))).toContain(
      'the board has none of sha256sum, busybox, shasum and openssl, so what is sent to it cannot be checked',
    )
    expect(await judge(await boardWith([...TOOLS, 'openssl']))).toContain('1 passed')
  })

  const busybox = execFileSync('sh', ['-c', 'command -v busybox || true'], { encoding: 'utf8' }).trim()

  testWith('busybox', busybox !== '', 'with nothing but BusyBox', async () => {
    const names = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n')
    const board = await boardWith(
      ['node'],
      Object.fromEntries(names.map((name) => [name, `#!${busybox} sh\nexec ${busybox} ${name} "$@"\n`])),
    )
    expect(await judge(board)).toContain('1 passed')
  })

  test('without setsid works, and is left clean', async () => {
    const tools = [...TOOLS.filter((tool) => tool !== 'setsid'), 'sha256sum']
    expect(await judge(await boardWith(tools))).toContain('1 passed')
  })

  test('with a full disk is an error that says so', async () => {
    const df = '#!/bin/sh\necho Filesystem 1024-blocks Used Available Capacity Mounted\necho disk 100 90 10 90% /\n'
    const full = await boardWith([...TOOLS.filter((tool) => tool !== 'df'), 'sha256sum'], { df })
    expect(await judge(full)).toMatch(
      /the board's disk is full: \d+ bytes do not fit into .*cache\/assay, where 0 MiB are free/,
    )
    const cat =
      '#!/bin/sh\ncase $# in 0) /bin/cat >/dev/null; echo "cat: write error: No space left on device" >&2; exit 1 ;; esac\nexec /bin/cat "$@"\n'
    const writes = await boardWith([...TOOLS.filter((tool) => tool !== 'cat'), 'sha256sum'], { cat })
    expect(await judge(writes)).toMatch(/the board could not write \d+ bytes to .* \(.*No space left on device\)/)
  })

  test('that loses what is sent notices it', async () => {
    const cat =
      '#!/bin/sh\ncase $# in 0) /usr/bin/head -c 10; /bin/cat >/dev/null; exit 0 ;; esac\nexec /bin/cat "$@"\n'
    const lossy = await boardWith([...TOOLS.filter((tool) => tool !== 'cat'), 'sha256sum'], { cat })
    expect(await judge(lossy)).toMatch(
      /what arrived on the board is not what was sent: its sha256 is [0-9a-f]{64}, expected [0-9a-f]{64}/,
    )
    expect(lossy.blobs()).toEqual([])
  })

  test('whose login shell prints a greeting is used all the same', async () => {
    const board = await Board.start([])
    const start = join(board.folder, 'greet')
    writeFileSync(start, '#!/bin/sh\necho Welcome to the board\nexec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n', {
      mode: 0o755,
    })
    const config = join(board.folder, 'sshd_config')
    writeFileSync(config, `ForceCommand "${start}"\n${readFileSync(config, 'utf8')}`)
    await board.restart()
    expect(await judge(board)).toContain('1 passed')
  })
})
