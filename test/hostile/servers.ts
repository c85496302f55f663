import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPageServer } from '../../src/runtimes/browser/page-server.ts'
import { sendLines } from '../../src/runtimes/loopback/testing/raw-http.ts'
import { serveDiff } from '../../src/server/diff-server.ts'
import { memorySource } from '../../src/tensors/memory-source.ts'
import { temporaryFolder } from '../support/assay.ts'
import { atFileEnd } from '../support/file-end.ts'
import { tensor } from '../support/small-models.ts'
import type { Row } from './corpus.ts'

interface Served {
  readonly port: number
  readonly cookie: string
}

const TOKEN = '0123456789abcdef0123456789abcdef'
const SECRET = 'never served'

/** A page of two tensors, whose only visitor has been let in. */
async function diffServer(): Promise<Served> {
  const source = memorySource('x', tensor('float32', [2, 2], [1, 2, 3, 4]))
  const server = await serveDiff([{ name: '<img src=x onerror=alert(1)>', reference: source, target: source }], {
    title: 'a',
  })
  atFileEnd(() => server.close())
  const url = new URL(server.url)
  const port = Number(url.port)
  const entry = await sendLines(port, [
    `GET /?token=${url.searchParams.get('token')} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
  ])
  return { port, cookie: (entry.headers.get('set-cookie') ?? '').split(';')[0]! }
}

async function pageServer(): Promise<Served> {
  const folder = temporaryFolder('page')
  mkdirSync(join(folder, 'ort/dist'), { recursive: true })
  for (const name of ['secret.mjs', 'ort/secret.mjs', 'ort/dist/.secret.mjs']) writeFileSync(join(folder, name), SECRET)
  writeFileSync(join(folder, 'ort/dist/ort.mjs'), 'export {}')
  const settings = {
    bundle: '/ort/ort.mjs',
    provider: 'wasm',
    ortVersion: '1',
    threads: 1,
    machine: null,
    adapter: 'auto',
  } as const
  const server = await startPageServer({ assets: { ortFolder: join(folder, 'ort'), settings }, token: TOKEN, port: 0 })
  atFileEnd(() => server.close())
  return { port: Number(new URL(server.address).port), cookie: '' }
}

const started = new Map<string, Promise<Served>>()

function once(start: () => Promise<Served>): Promise<Served> {
  const running = started.get(start.name) ?? start()
  started.set(start.name, running)
  return running
}

/** The status and the beginning of the body of an answer to these lines; `PORT` and `COOKIE` are filled in. */
async function ask(start: () => Promise<Served>, lines: readonly string[]): Promise<string> {
  const { port, cookie } = await once(start)
  const filled = lines.map((line) => line.replaceAll('PORT', String(port)).replaceAll('COOKIE', cookie))
  const { status, body } = await sendLines(port, filled)
  if (body.includes(SECRET) || body.includes('root:')) return `${status} gave a secret`
  return `${status} ${body.slice(0, 300)}`
}

const HOST = 'Host: 127.0.0.1:PORT'
const KNOWN = [HOST, 'Cookie: COOKIE']

type Short = readonly [name: string, lines: readonly string[], says: RegExp]

const get = (path: string, ...more: string[]) => [`GET ${path} HTTP/1.1`, ...KNOWN, ...more]

const ofDiff: readonly Short[] = [
  ['a visitor without a cookie', ['GET /api/pairs HTTP/1.1', HOST], /^401 /],
  ['a cookie of another name', ['GET /api/pairs HTTP/1.1', HOST, 'Cookie: session=1'], /^401 /],
  ['a cookie that is nearly right', ['GET /api/pairs HTTP/1.1', HOST, 'Cookie: COOKIE0'], /^401 /],
  ['a token of a kilobyte', [`GET /?token=${'0'.repeat(1024)} HTTP/1.1`, HOST], /^401 /],
  ['a token twice', ['GET /?token=0&token=1 HTTP/1.1', HOST], /^401 /],
  ['a host in capitals of another site', ['GET / HTTP/1.1', 'Host: EVIL.TEST', 'Cookie: COOKIE'], /^421 /],
  ['a host with a blank', ['GET / HTTP/1.1', 'Host: 127.0.0.1:PORT evil.test', 'Cookie: COOKIE'], /^4(00|21) /],
  ['a host twice', ['GET /api/pairs HTTP/1.1', 'Host: evil.test', HOST, 'Cookie: COOKIE'], /^4(00|21) /],
  ['a host of another loopback address', ['GET / HTTP/1.1', 'Host: 127.0.0.2:PORT', 'Cookie: COOKIE'], /^421 /],
  ['a host of IPv6', ['GET / HTTP/1.1', 'Host: [::1]:PORT', 'Cookie: COOKIE'], /^421 /],
  ['an origin of another scheme', get('/api/pairs', 'Origin: file://'), /^403 /],
  ['an origin of an extension', get('/api/pairs', 'Origin: chrome-extension://abc'), /^403 /],
  ['an empty origin', get('/api/pairs', 'Origin: '), /^403 /],
  ['a navigation from another site', get('/', 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate'), /^403 /],
  ['PATCH', ['PATCH /api/pairs HTTP/1.1', ...KNOWN], /^405 /],
  ['TRACE', ['TRACE / HTTP/1.1', ...KNOWN], /^405 /],
  ['CONNECT', ['CONNECT evil.test:443 HTTP/1.1', HOST], /^(4\d\d|NaN) /],
  ['a method that is none', ['EVIL / HTTP/1.1', ...KNOWN], /^4\d\d /],
  [
    'a body of two lengths',
    ['GET /api/pairs HTTP/1.1', ...KNOWN, 'Content-Length: 1', 'Transfer-Encoding: chunked'],
    /^4\d\d /,
  ],
  ['a length below 0', ['GET /api/pairs HTTP/1.1', ...KNOWN, 'Content-Length: -1'], /^4\d\d /],
  ['a header of 20 000 characters', get('/', `X: ${'a'.repeat(20_000)}`), /^431 /],
  ['3 000 headers', get('/api/pairs', ...Array.from({ length: 3000 }, (_, i) => `X${i}: 1`)), /^(431|200) /],
  ['HTTP of the future', ['GET / HTTP/9.9', ...KNOWN], /^4\d\d |^505 |^NaN /],
  ['a line that is none', ['hello'], /^400 /],
  ['a path of the machine', get('/etc/passwd'), /^404 /],
  ['a path that climbs, encoded twice', get('/%252e%252e%252fetc/passwd'), /^404 /],
  ['a path with a NUL', get('/api%00/pairs'), /^404 /],
  ['a path that cannot be decoded', get('/%ff%fe'), /^404 /],
  ['a path of a percent sign', get('/%'), /^404 /],
  ['a path of the source', get('/src/server/diff-server.ts'), /^404 /],
  ['a pair that is a list', get('/api/slice?pair=0&pair=1&index=:,:'), /^(200|400) /],
  ['a pair of 1e9', get('/api/slice?pair=1000000000&index=:,:'), /^400 there is no pair/],
  ['a pair of the prototype', get('/api/slice?pair=__proto__&index=:,:'), /^400 pair has/],
  ['a pair in hexadecimal', get('/api/verdict?pair=0x0'), /^400 pair has/],
  ['an index of 10 000 parts', get(`/api/slice?pair=0&index=${':,'.repeat(2000)}:`), /^400 slice/],
  ['an index below 0', get('/api/slice?pair=0&index=-1,:'), /^400 /],
  ['rows in reverse', get('/api/slice?pair=0&index=:,:&rows=2:0'), /^400 rows is/],
  ['rows of a fraction', get('/api/slice?pair=0&index=:,:&rows=0.5:2'), /^400 rows/],
  ['rows beyond 2^53', get('/api/slice?pair=0&index=:,:&rows=0:99999999999999999999'), /^400 rows/],
  ['a tolerance without end', get('/api/verdict?pair=0&rtol=Infinity&atol=0'), /^400 rtol is/],
  ['a tolerance of 1e999', get('/api/verdict?pair=0&rtol=0&atol=1e999'), /^400 atol is/],
  ['a side of the prototype', get('/api/slice?pair=0&index=:,:&side=constructor'), /^400 side is/],
]

const page = (path: string, ...more: string[]) => [`GET ${path} HTTP/1.1`, HOST, ...more]
const socket = (...more: string[]) => [
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ...more,
  'Connection: Upgrade',
]

const ofPage: readonly Short[] = [
  ['a script beside its folder', page('/ort/../../secret.mjs'), /^404 /],
  ['a script beside its folder, half encoded', page('/ort/.%2e/secret.mjs'), /^404 /],
  ['a script whose name is hidden', page('/ort/.secret.mjs'), /^404 /],
  ['a script with a blank', page('/ort/ort%20.mjs'), /^404 /],
  ['a script of a stream', page('/ort/ort.mjs::$DATA'), /^404 /],
  ['a script with a fragment of a path', page('/ort/ort.mjs/../../secret.mjs'), /^404 /],
  ['a folder', page('/ort/..'), /^404 /],
  ['a path that cannot be decoded', page('/ort/%c0%ae%c0%ae/secret.mjs'), /^404 /],
  ['a path of 3 000 slashes', page(`/${'/'.repeat(3000)}etc/passwd`), /^404 /],
  ['the token in the path', page(`/${TOKEN}`), /^404 /],
  ['another site that rebinds its name', ['GET /page.json HTTP/1.1', 'Host: rebind.evil.test:PORT'], /^421 /],
  ['a host with a user', ['GET /page.json HTTP/1.1', 'Host: x@127.0.0.1:PORT'], /^421 /],
  ['a host in decimal', ['GET /page.json HTTP/1.1', 'Host: 2130706433'], /^421 /],
  ['a host of a trailing dot', ['GET /page.json HTTP/1.1', 'Host: localhost.'], /^421 /],
  ['PATCH', ['PATCH / HTTP/1.1', HOST], /^405 /],
  [
    'a socket with half a token',
    page(`/worker?token=${TOKEN.slice(0, 16)}`, ...socket('Origin: http://127.0.0.1:PORT')),
    /^401 /,
  ],
  [
    'a socket with the token twice, wrong first',
    page(`/worker?token=x&token=${TOKEN}`, ...socket('Origin: http://127.0.0.1:PORT')),
    /^401 /,
  ],
  [
    'a socket with a token in capitals',
    page(`/worker?token=${TOKEN.toUpperCase()}`, ...socket('Origin: http://127.0.0.1:PORT')),
    /^401 /,
  ],
  ['a socket of another site', page(`/worker?token=${TOKEN}`, ...socket('Origin: http://evil.test')), /^403 /],
  [
    'a socket of two origins',
    page(`/worker?token=${TOKEN}`, ...socket('Origin: http://127.0.0.1:PORT', 'Origin: http://evil.test')),
    /^403 /,
  ],
]

const rowsOf = (start: () => Promise<Served>, table: readonly Short[]) =>
  table.map(([name, lines, says]): Row => ({ name, read: () => ask(start, lines), exit: 'accepted', says }))

export const diffRows: readonly Row[] = rowsOf(diffServer, ofDiff)
export const pageRows: readonly Row[] = rowsOf(pageServer, ofPage)
