import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testWith } from '../../test/support/needs.ts'
import type { PairVerdict, ShownPairs, SliceHeader } from '../compare/slice/contract.ts'
import type { DType } from '../domain/dtype.ts'
import type { TensorSource } from '../domain/tensor.ts'
import { askAsOther, canBeOther } from '../runtimes/loopback/testing/other-user.ts'
import { type RawAnswer, sendLines } from '../runtimes/loopback/testing/raw-http.ts'
import { encodeNumbers } from '../tensors/encode.ts'
import { memorySource } from '../tensors/memory-source.ts'
import { type DiffServer, serveDiff } from './diff-server.ts'

function source(shape: readonly number[], values: readonly number[], dtype: DType = 'float32'): TensorSource {
  return memorySource('x', { dtype, shape, bytes: encodeNumbers(dtype, values) })
}

const PAIRS = [
  { name: 'y', reference: source([2, 2], [1, 2, 3, 4]), target: source([2, 2], [1, 2, 3, 5]) },
  { name: 'shapes', reference: source([4], [1, 2, 3, 4]), target: source([2, 2], [1, 2, 3, 4]) },
  { name: 'gone', reference: source([1], [1]), target: null },
  { name: 'complex', reference: source([1], [1, 2], 'complex64'), target: source([1], [1, 3], 'complex64') },
  { name: 'halves', reference: source([2], [1, 2]), target: source([2], [1, 2], 'float16') },
]

let server: DiffServer
let port: number
let token: string
let cookie: string
beforeAll(async () => {
  server = await serveDiff(PAIRS, { title: 'a ↔ b' })
  const url = new URL(server.url)
  port = Number(url.port)
  token = url.searchParams.get('token')!
})
afterAll(() => server.close())

const send = (lines: readonly string[]) => sendLines(port, lines)
const host = () => `Host: 127.0.0.1:${port}`
const get = (path: string, ...more: string[]) => send([`GET ${path} HTTP/1.1`, host(), ...more])
const known = (path: string, ...more: string[]) => get(path, `Cookie: ${cookie}`, ...more)

function expectSafe({ headers }: RawAnswer): void {
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; .*frame-ancestors 'none'; base-uri 'none'/,
  )
  expect(headers.get('content-security-policy')).not.toContain('unsafe')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(headers.get('access-control-allow-origin')).toBeUndefined()
}

describe('the token of the address', () => {
  test('is long, and nothing is given without it', async () => {
    expect(token).toMatch(/^[0-9a-f]{32}$/)
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=/)
    for (const path of ['/', '/api/pairs', '/api/verdict?pair=0', '/api/slice?pair=0&index=:,:', '/x']) {
      const answer = await get(path)
      expect([path, answer.status, answer.body]).toEqual([path, 401, expect.stringContaining('open the address')])
      expectSafe(answer)
    }
  })

  test.each([
    ['another', () => '0'.repeat(32)],
    ['a part', () => token.slice(1)],
    ['more', () => `${token}0`],
    ['none', () => ''],
    ['other letters', () => '%C3%A9'.repeat(16)],
  ])('does not work as %s', async (_, given) => {
    const answer = await get(`/?token=${given()}`)
    expect(answer.status).toBe(401)
    expect(answer.headers.has('set-cookie')).toBe(false)
  })

  test('does not work from another site', async () => {
    expect((await get(`/?token=${token}`, 'Sec-Fetch-Site: cross-site')).status).toBe(403)
  })

  testWith('root', canBeOther, 'does not work for another user of the machine, and is not used up by him', async () => {
    const answer = await askAsOther(port, [`GET /?token=${token} HTTP/1.1`, host()])
    expect(answer).toMatch(/^HTTP\/1\.1 403 .*user 65534 of this machine may not connect here, only user 0\n$/s)
    expect(answer).not.toMatch(/set-cookie/i)
  })

  test('works from a file that leads there, by one more step of our own', async () => {
    const other = await serveDiff(PAIRS, { title: 'a ↔ b' })
    const { host: name, port: at, search } = new URL(other.url)
    const arrive = (...more: string[]) =>
      sendLines(Number(at), [`GET /${search} HTTP/1.1`, `Host: ${name}`, 'Sec-Fetch-Site: cross-site', ...more])
    expect((await arrive('Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe')).status).toBe(403)
    expect((await arrive('Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: document')).status).toBe(403)
    const answer = await arrive('Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(answer.body).toContain('<meta http-equiv="refresh" content="0;url=/">')
    expect(answer.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/)
    expectSafe(answer)
    await other.close()
  })

  test('is exchanged for a cookie once, and leaves the address bar', async () => {
    const first = await get(`/?token=${token}`)
    expect([first.status, first.headers.get('location')]).toEqual([303, '/'])
    const [pair = '', ...rest] = (first.headers.get('set-cookie') ?? '').split('; ')
    expect(rest).toEqual(['HttpOnly', 'SameSite=Strict', 'Path=/'])
    expect(pair).not.toContain(token)
    expectSafe(first)
    cookie = pair
    const second = await get(`/?token=${token}`)
    expect([second.status, second.body]).toEqual([401, expect.stringContaining('has been opened before')])
    expect((await known(`/?token=${token}`)).status).toBe(303)
  })

  test('a wrong cookie is none', async () => {
    const [name = ''] = cookie.split('=')
    for (const value of ['', '0'.repeat(32), token]) {
      expect((await get('/api/pairs', `Cookie: ${name}=${value}`)).status).toBe(401)
    }
  })
})

describe('another name for this machine', () => {
  test.each([
    'evil.test',
    'evil.test:PORT',
    '127.0.0.1.evil.test:PORT',
    '127.0.0.1:PORT.evil.test',
    '127.0.0.1',
    '127.0.0.1:9',
    '0.0.0.0:PORT',
    '[::ffff:127.0.0.1]:PORT',
    '127.0.0.1:PORT@evil.test',
    '',
  ])('Host "%s" is misdirected', async (name) => {
    const lines = ['GET /api/pairs HTTP/1.1', `Host: ${name.replace('PORT', String(port))}`, `Cookie: ${cookie}`]
    const answer = await send(lines)
    expect([answer.status, answer.body]).toEqual([421, `not for this server: it is 127.0.0.1:${port}\n`])
    expectSafe(answer)
  })

  test('none at all, and one in the request line, are refused', async () => {
    expect((await send(['GET /api/pairs HTTP/1.0', `Cookie: ${cookie}`])).status).toBe(421)
    const absolute = await send(['GET http://evil.test/api/pairs HTTP/1.1', host(), `Cookie: ${cookie}`])
    expect(absolute.status).toBe(421)
  })
})

describe('another site', () => {
  test.each([
    'http://evil.test',
    'null',
    'http://127.0.0.1:9',
    'https://127.0.0.1:PORT',
    'http://127.0.0.1:PORT.evil.test',
  ])('Origin %s is forbidden', async (origin) => {
    const answer = await known('/api/pairs', `Origin: ${origin.replace('PORT', String(port))}`)
    expect(answer.status).toBe(403)
    expectSafe(answer)
  })

  test.each(['cross-site', 'same-site', 'x'])('Sec-Fetch-Site %s is forbidden', async (site) => {
    expect((await known('/api/pairs', `Sec-Fetch-Site: ${site}`)).status).toBe(403)
  })

  test.each(['same-origin', 'none'])('Sec-Fetch-Site %s is ours', async (site) => {
    const own = [`Origin: http://127.0.0.1:${port}`, `Sec-Fetch-Site: ${site}`]
    expect((await known('/api/pairs', ...own)).status).toBe(200)
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])('%s is refused, from anywhere', async (method) => {
    const own = await send([`${method} /api/pairs HTTP/1.1`, host(), `Cookie: ${cookie}`])
    expect([own.status, own.headers.get('allow')]).toEqual([405, 'GET'])
    const form = ['Origin: http://evil.test', 'Content-Type: text/plain']
    const foreign = await send([`${method} /api/pairs HTTP/1.1`, host(), `Cookie: ${cookie}`, ...form])
    expect(foreign.status).toBe(403)
  })
})

describe('other paths', () => {
  test.each([
    '/../../../../etc/passwd',
    '/%2e%2e%2f%2e%2e%2fetc/passwd',
    '/%252e%252e/etc/passwd',
    '/..%5c..%5cetc/passwd',
    '//etc/passwd',
    '/api/../package.json',
    '/api/pairs/',
    '/api/pairs%00',
    '/diff.html',
    `/${'a'.repeat(8000)}`,
  ])('%.60s is not found', async (path) => {
    const answer = await known(path)
    expect([answer.status, answer.body]).toEqual([404, 'not found\n'])
    expectSafe(answer)
  })
})

describe('the page', () => {
  test('runs only its own script and style, which are in it', async () => {
    const answer = await known('/')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const policy = answer.headers.get('content-security-policy')!
    expect(policy).toMatch(/script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; connect-src 'self'/)
    expect(answer.body).not.toMatch(/<(script|link|img|iframe)[^>]* (src|href)="(?!data:,)/)
    expectSafe(answer)
  })
})

async function slice(query: string): Promise<{ header: SliceHeader; data: Buffer }> {
  const answer = await known(`/api/slice?${query}`)
  expect([answer.status, answer.status === 200 ? '' : answer.body]).toEqual([200, ''])
  const bytes = Buffer.from(answer.body, 'latin1')
  const end = 4 + bytes.readUInt32LE(0)
  return { header: JSON.parse(bytes.toString('utf8', 4, end)), data: bytes.subarray(end) }
}

const floats = (data: Buffer) => Array.from({ length: data.length / 4 }, (_, i) => data.readFloatLE(i * 4))

describe('what the page asks for', () => {
  test('the pairs, complex numbers as pairs of their own', async () => {
    const shown = JSON.parse((await known('/api/pairs')).body) as ShownPairs
    expect(shown.title).toBe(Buffer.from('a ↔ b').toString('latin1'))
    expect(shown.pairs.map(({ name }) => name)).toEqual(PAIRS.map(({ name }) => name))
    expect(shown.pairs[2]!.target).toBeNull()
    expect(shown.pairs[3]!.reference).toEqual({ dtype: 'float32', shape: [1, 2], isComplex: true })
  })

  test('a slice of both sides, with the limits of the default rule', async () => {
    const { header, data } = await slice('pair=0&index=1,:')
    expect(floats(data)).toEqual([3, 4, 3, 5])
    expect(header).toMatchObject({ rowStep: 1, colStep: 1, byteLengths: { reference: 8, target: 8 }, tally: null })
    expect(header.limits).toMatchObject({ rtol: 1e-3, constant: 4e-4 })
  })

  test('a window of one, of one side, with other limits', async () => {
    const { header, data } = await slice('pair=0&index=:,:&rows=1:2&cols=0:2&rtol=0&atol=0.5')
    expect([floats(data), header.limits?.constant]).toEqual([[3, 4, 3, 5], 0.5])
    const lone = await slice('pair=1&side=target&index=:,1')
    expect([floats(lone.data), lone.header.limits]).toEqual([[2, 4], null])
  })

  test('a verdict, with the worst place', async () => {
    const { result } = JSON.parse((await known('/api/verdict?pair=0')).body) as PairVerdict
    expect([result.verdict, result.worst[0]]).toMatchObject(['fail', { index: [1, 1], reference: '4', target: '5' }])
    const wider = JSON.parse((await known('/api/verdict?pair=0&rtol=0.5&atol=0')).body) as PairVerdict
    expect(wider.result.verdict).toBe('pass')
  })

  test.each([
    ['shapes', 1, 'the target is float32 (2, 2), the reference float32 (4)'],
    ['gone', 2, 'there is no target'],
    ['halves', 4, 'dtype float16, the reference has float32'],
  ])('%s is a failure that says why', async (_, pair, reason) => {
    const { result } = JSON.parse((await known(`/api/verdict?pair=${pair}`)).body) as PairVerdict
    expect([result.verdict, result.reason]).toEqual(['fail', reason])
  })

  test.each([
    ['slice?pair=9&index=:,:', 'there is no pair 9; there are 5, from 0 on'],
    ['slice?index=:,:', 'pair has ""; give a whole number'],
    ['slice?pair=-1&index=:,:', 'pair has "-1"; give a whole number'],
    ['slice?pair=0&index=:', 'slice : has 1 parts for the 2 axes of shape (2, 2); give one such as :,:'],
    ['slice?pair=0&index=2,:', 'slice 2,: has "2" for axis 0, expected 0 to 1 for a tensor of shape (2, 2)'],
    ['slice?pair=0&index=1e0,:', 'index has "1e0"; give a whole number'],
    ['slice?pair=0&index=:,:&rows=0:3', 'rows is "0:3"; give a range within 0:2'],
    ['slice?pair=0&index=:,:&rows=1:1', 'rows is "1:1"; give a range within 0:2'],
    ['slice?pair=0&index=:,:&side=left', 'side is "left"; give reference or target'],
    ['slice?pair=1&index=:', 'the sides do not have one shape; ask with side='],
    ['slice?pair=2&index=:&side=target', 'there is no target of this pair'],
    ['verdict?pair=0&rtol=1&atol=0', 'rtol is 1, but must be at least 0 and below 1'],
    ['verdict?pair=0&rtol=-1&atol=0', 'rtol is -1, but must be'],
    ['verdict?pair=0&rtol=NaN&atol=0', 'rtol is "NaN"; give a number from 0 up'],
    ['verdict?pair=0&rtol=0', 'atol is ""; give a number from 0 up'],
  ])('%s is refused in words', async (query, text) => {
    const answer = await known(`/api/${query}`)
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining(text)])
    expectSafe(answer)
  })
})

test('a tensor whose file is gone is told', async () => {
  const lost = { ...PAIRS[0]!.reference, file: { path: '/nowhere/x.npy', start: 0 } }
  const other = await serveDiff([{ name: 'y', reference: lost, target: lost }], { title: 'lost', rtol: 0, atol: 0 })
  const entry = await fetch(other.url, { redirect: 'manual' })
  const headers = { Cookie: entry.headers.get('set-cookie')!.split(';')[0]! }
  const answer = await fetch(new URL('/api/slice?pair=0&index=:,:', other.url), { headers })
  expect([answer.status, await answer.text()]).toEqual([
    500,
    expect.stringMatching(/ENOENT.*the files may have changed/),
  ])
  await other.close()
  await expect(fetch(other.url)).rejects.toThrow()
})
