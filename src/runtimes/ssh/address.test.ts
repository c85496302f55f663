import { describe, expect, test } from 'vitest'
import { formatDestination, parseAddress } from './address.ts'

describe('the address of a board', () => {
  test.each([
    ['board', { user: null, host: 'board' }],
    ['root@10.0.0.7', { user: 'root', host: '10.0.0.7' }],
    ['dev_1@my-board.example.org', { user: 'dev_1', host: 'my-board.example.org' }],
    ['root@[fe80::1%eth0]', { user: 'root', host: 'fe80::1%eth0' }],
    ['::1', { user: null, host: '::1' }],
  ])('%s', (text, address) => {
    expect(parseAddress(text)).toEqual(address)
    expect(formatDestination(parseAddress(text))).toBe(text.replace(/[[\]]/g, ''))
  })

  test.each([
    '-oProxyCommand=touch pwned',
    '-oProxyCommand=x@host',
    'root@-oProxyCommand=x',
    'host;touch pwned',
    'host name',
    'host\nname',
    "ho'st",
    'ho"st',
    'host$(id)',
    'host`id`',
    'host|id',
    'host&',
    'a@b@c',
    'user name@host',
    '@host',
    'root@',
    '',
    'host\u0000',
    'host\u202e',
    'ssh://root@host',
    'ho/st',
    '[host]',
    '%h',
    'fe80::1%$(id)',
    'x'.repeat(300),
  ])('%j is refused', (text) => {
    expect(() => parseAddress(text)).toThrow(/is refused because of the (user|host)/)
  })

  test('a port in it is pointed out', () => {
    expect(() => parseAddress('root@host:2222')).toThrow('the port is given as port=2222')
  })
})
