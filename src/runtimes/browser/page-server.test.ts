import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { testWith } from '../../../test/support/needs.ts'
import { askAsOther, canBeOther } from '../loopback/testing/other-user.ts'
import { type RawAnswer, sendLines } from '../loopback/testing/raw-http.ts'
import type { Assets } from './assets.ts'
import { type PageServer, startPageServer } from './page-server.ts'

const TOKEN = '0123456789abcdef0123456789abcdef'
const SECRET = 'export const secret = "never served"'

/** An onnxruntime-web with something beside it and beside its scripts that nobody may have. */
async function someAssets(): Promise<Assets> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-page-'))
  const ortFolder = join(folder, 'onnxruntime-web')
  await mkdir(join(ortFolder, 'dist/esm'), { recursive: true })
  for (const file of ['outside.mjs', 'onnxruntime-web/package.json', 'onnxruntime-web/inside.mjs']) {
    await writeFile(join(folder, file), SECRET)
  }
  for (const file of ['.hidden.mjs', 'notes.txt', 'ort.map']) await writeFile(join(ortFolder, 'dist', file), SECRET)
  await writeFile(join(ortFolder, 'dist/ort.mjs'), 'export {}')
  await writeFile(join(ortFolder, 'dist/esm/ort.wasm'), new Uint8Array([0, 0x61, 0x73, 0x6d]))
  const settings = { bundle: '/ort/ort.mjs', provider: 'wasm', ortVersion: '1.30.0', threads: 1, machine: null }
  return { ortFolder, settings: { ...settings, adapter: 'auto' } }
}

let server: PageServer
let port: number
beforeAll(async () => {
  server = await startPageServer({ assets: await someAssets(), token: TOKEN, port: 0 })
  port = Number(new URL(server.address).port)
})
afterAll(() => server.close())

const send = (lines: readonly string[], finish?: (socket: Socket) => void) => sendLines(port, lines, finish)
const get = (path: string, host = `127.0.0.1:${port}`) => send([`GET ${path} HTTP/1.1`, `Host: ${host}`])

function expectIsolated({ headers }: RawAnswer): void {
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect(headers.get('cross-origin-embedder-policy')).toBe('require-corp')
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*frame-ancestors 'none'/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('access-control-allow-origin')).toBeUndefined()
}

describe('what the page loads', () => {
  test.each([
    ['/', 'text/html; charset=utf-8', '<!doctype html>'],
    ['/?again', 'text/html; charset=utf-8', '<!doctype html>'],
    ['/page.json', 'application/json', '"provider":"wasm"'],
    ['/assay/main.js', 'text/javascript', '/assay/worker.js'],
    ['/assay/worker.js', 'text/javascript', 'new WebSocket('],
    ['/ort/ort.mjs', 'text/javascript', 'export {}'],
    ['/ort/esm/ort.wasm', 'application/wasm', '\0asm'],
  ])('%s is served, isolated', async (path, type, content) => {
    const answer = await get(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    expect(answer.body).toContain(content)
    expect(answer.body).not.toContain(TOKEN)
    expectIsolated(answer)
  })
})

describe('another path', () => {
  test.each([
    '/ort/../inside.mjs',
    '/ort/../package.json',
    '/ort/../../outside.mjs',
    '/ort/esm/../../inside.mjs',
    '/ort/%2e%2e/inside.mjs',
    '/ort/%2e%2e%2finside.mjs',
    '/ort/%252e%252e/inside.mjs',
    '/ort/..%5cinside.mjs',
    '/ort/..\\inside.mjs',
    '/ort//inside.mjs',
    '/ort/./ort.mjs',
    '/ort/.hidden.mjs',
    '/ort/notes.txt',
    '/ort/ort.map',
    '/ort/esm',
    '/ort/',
    '/ort/ort.mjs%00.mjs',
    '/assay/../../package.json',
    '/assay/%2e%2e/package.json',
    '/assay/cli/main.js',
    '/assay/../../../index.js',
    '/assay/main.js.map',
    '/assay/runtimes/browser/page-server.test.ts',
    '/package.json',
    '/../../../../etc/passwd',
    `/ort/${'a'.repeat(8000)}.mjs`,
    `/${'../'.repeat(2000)}etc/passwd`,
  ])('%.60s is not found', async (path) => {
    const answer = await get(path)
    expect(answer.status).toBe(404)
    expect(answer.body).toContain('not found')
    expect(answer.body).not.toMatch(/secret|root:/)
    expectIsolated(answer)
  })

  test.each([
    ['//etc/passwd', 404],
    ['///etc/passwd', 404],
    ['/ort/\0', 400],
    ['etc/passwd', 400],
    [`/${'a'.repeat(20_000)}`, 431],
  ])('%.20s is refused', async (path, status) => {
    const answer = await get(path)
    expect(answer.status).toBe(status)
    expect(answer.body).not.toMatch(/secret|root:/)
  })
})

describe('another name for this machine', () => {
  test.each([
    'evil.test',
    'evil.test:80',
    '127.0.0.1.evil.test',
    '127.0.0.1.evil.test:80',
    '127.0.0.1:80.evil.test',
    'localhost.evil.test',
    'evil.test:127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:999999',
    '127.0.0.1@evil.test',
    '0.0.0.0',
    '192.168.0.1',
    '[::ffff:127.0.0.1]',
    '',
  ])('Host "%s" is misdirected', async (host) => {
    const answer = await get('/page.json', host)
    expect(answer.status).toBe(421)
    expect(answer.body).toContain('not for this server')
    expect(answer.body).not.toContain('provider')
    expectIsolated(answer)
  })

  test.each([
    ['HTTP/1.1', 400],
    ['HTTP/1.0', 421],
  ])('none at all in %s is refused', async (version, status) => {
    expect((await send([`GET /page.json ${version}`])).status).toBe(status)
  })

  test('one in the request line counts more than the header', async () => {
    const answer = await send(['GET http://evil.test/page.json HTTP/1.1', `Host: 127.0.0.1:${port}`])
    expect(answer.status).toBe(421)
  })

  test.each(['127.0.0.1', '127.0.0.1:9', 'localhost:65535', '[::1]:8080'])(
    'Host %s is ours, whichever port was forwarded',
    async (host) => expect((await get('/page.json', host)).status).toBe(200),
  )
})

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])('%s is not allowed', async (method) => {
  const answer = await send([`${method} /page.json HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Origin: http://evil.test'])
  expect(answer.status).toBe(405)
  expectIsolated(answer)
})

const WEBSOCKET = [
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Connection: Upgrade',
]

describe('a socket', () => {
  interface Wish {
    readonly host?: string
    readonly origin?: string | null
    readonly path?: string
  }

  function upgrade(wish: Wish = {}, finish?: (socket: Socket) => void): Promise<RawAnswer> {
    const { host = `127.0.0.1:${port}`, origin = `http://${host}`, path = `/worker?token=${TOKEN}` } = wish
    const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...WEBSOCKET]
    return send([...lines, ...(origin === null ? [] : [`Origin: ${origin}`])], finish)
  }

  test.each<[string, Wish, number]>([
    ['foreign origin', { origin: 'http://evil.test' }, 403],
    ['origin that begins like ours', { origin: 'http://127.0.0.1.evil.test' }, 403],
    ['origin on another port', { origin: 'http://127.0.0.1:9' }, 403],
    ['origin of a file or a sandboxed frame', { origin: 'null' }, 403],
    ['missing origin', { origin: null }, 403],
    ['secure origin', { origin: 'https://127.0.0.1' }, 403],
    ['foreign host that is its origin', { host: 'evil.test', origin: 'http://evil.test' }, 403],
    ['wrong token', { path: `/worker?token=${'0'.repeat(32)}` }, 401],
    ['token of another length', { path: `/worker?token=${TOKEN}0` }, 401],
    ['token of other letters', { path: `/worker?token=${'%C3%A9'.repeat(16)}` }, 401],
    ['missing token', { path: '/worker' }, 401],
    ['empty token', { path: '/worker?token=' }, 401],
    ['token in the fragment only', { path: `/worker#${TOKEN}` }, 401],
    ['path that is no address', { path: '//' }, 401],
  ])('with a %s is refused', async (_, wish, status) => {
    const answer = await upgrade(wish)
    expect(answer.status).toBe(status)
    expect((await get('/page.json')).status).toBe(200)
  })

  test('that is reset before its refusal harms nobody', async () => {
    const reset = upgrade({ origin: 'http://evil.test' }, (socket) => socket.resetAndDestroy())
    await reset.catch(() => {})
    expect((await get('/page.json')).status).toBe(200)
  })

  testWith('root', canBeOther, 'of another user of the machine is refused, with the right token', async () => {
    const host = `127.0.0.1:${port}`
    const lines = [`GET /worker?token=${TOKEN} HTTP/1.1`, `Host: ${host}`, `Origin: http://${host}`]
    const answer = await askAsOther(port, [...lines, ...WEBSOCKET])
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/)
    expect(await askAsOther(port, ['GET /page.json HTTP/1.1', `Host: ${host}`])).toMatch(
      /^HTTP\/1\.1 403 .*user 65534 of this machine may not connect here, only user 0\n/s,
    )
  })

  test('of the first page is taken, of a second one not', async () => {
    const open = () =>
      new WebSocket(`ws://127.0.0.1:${port}/worker?token=${TOKEN}`, { origin: `http://127.0.0.1:${port}` })
    const first = open()
    const taken = await server.page
    first.on('message', (data) => first.send(`${data}!`))
    const echo = new Promise((resolve) => taken.once('message', (data) => resolve(String(data))))
    taken.send('hello')
    expect(await echo).toBe('hello!')
    const refusal = await new Promise((resolve) =>
      open().once('unexpected-response', (_, { statusCode }) => resolve(statusCode)),
    )
    expect(refusal).toBe(409)
    first.terminate()
  })
})

describe('where it listens', () => {
  const others = Object.values(networkInterfaces()).flatMap((all = []) => all.filter(({ internal }) => !internal))
  const addresses = [
    ...(process.platform === 'linux' ? ['127.0.0.2', '::1'] : []),
    ...others.map(({ address }) => address),
  ]

  test('is the loopback address', () => {
    expect(server.address).toBe(`http://127.0.0.1:${port}/#${TOKEN}`)
  })

  test.each(addresses)('is not %s', async (address) => {
    const outcome = await new Promise<string>((resolve) => {
      const socket = connect(port, address, () => resolve('connected'))
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
      socket.on('close', () => socket.destroy())
    })
    expect(outcome).toMatch(/^(ECONNREFUSED|EADDRNOTAVAIL|EINVAL|ENETUNREACH)$/)
  })

  test('is told when it is taken already', async () => {
    const again = startPageServer({ assets: await someAssets(), token: TOKEN, port })
    await expect(again).rejects.toThrow('EADDRINUSE')
  })
})
