import { connect, type Socket } from 'node:net'
import { ReadableStream as NodeStream } from 'node:stream/web'
import { afterEach, describe, expect, test } from 'vitest'
import { createApp, type LoopbackApp } from './app.ts'
import { type LoopbackServer, openLoopback } from './server.ts'
import { sendLines } from './testing/raw-http.ts'

let server: LoopbackServer | null = null
afterEach(() => server?.close())

async function open(app: LoopbackApp): Promise<number> {
  server = await openLoopback({ app, rules: { mayBeForwarded: true }, headers: { 'X-Kept': 'yes' }, port: 0 })
  return Number(new URL(server.origin).port)
}

/** Node's adapter of Hono reads addresses in one of two ways, depending on the port. */
describe.each(['127.0.0.1:9000', 'localhost:65535', '[::1]:80'])('paths are taken as they were sent to %s', (host) => {
  const app = createApp()
  app.get('/api/pairs', (c) => c.text('secret'))

  test.each(['/api/pairs', '/api/pairs?x', '/api/pairs?a/../b', '/api/pairs?\\', '/api/pairs?%'])(
    '%s is found',
    async (path) => {
      const { status, body } = await sendLines(await open(app), [`GET ${path} HTTP/1.1`, `Host: ${host}`])
      expect([status, body]).toEqual([200, 'secret'])
    },
  )

  test.each([
    '/x/../api/pairs',
    '/./api/pairs',
    '/x/%2e%2e/api/pairs',
    '/%61pi/pairs',
    '/api%2fpairs',
    '/api%2Fpairs',
    '/%2561pi/pairs',
    '/api/pairs/',
    '/api/pairs/.',
    '/api/pairs/x/..',
    '//api/pairs',
    '/\\api/pairs',
    '/x/..\\api/pairs',
    '/api/pairs#x',
    '/api/pairs%00',
    '/API/PAIRS',
    '/%',
    '/%ff%fe',
    '/%c0%ae',
  ])('%s is not', async (path) => {
    const { status, headers, body } = await sendLines(await open(app), [`GET ${path} HTTP/1.1`, `Host: ${host}`])
    expect([status, body, headers.get('x-kept')]).toEqual([404, 'not found\n', 'yes'])
  })
})

test.each([
  ['an answer of none', () => new Response(null)],
  ['what throws no error', () => Promise.reject('nothing')],
])('%s has the headers of every answer', async (_, answer) => {
  const port = await open(createApp().get('/', answer))
  expect((await sendLines(port, ['GET / HTTP/1.1', 'Host: localhost'])).headers.get('x-kept')).toBe('yes')
})

test("Node's own Request and Response stay", async () => {
  const { Request, Response } = globalThis
  await open(createApp())
  expect([globalThis.Request === Request, globalThis.Response === Response]).toEqual([true, true])
})

describe('a client that', () => {
  /** Sends a request and stops reading at the first bytes of the answer. */
  function askAndPause(port: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'))
      socket.on('error', reject)
      socket.once('data', () => resolve(socket.pause()))
    })
  }

  test('does not read keeps no more in memory than sockets take, and ends the answer when it leaves', async () => {
    const PART = new Uint8Array(2 ** 20)
    const PARTS = 500
    let given = 0
    const ended = new Promise<void>((resolve) => {
      async function* parts() {
        try {
          for (; given < PARTS; given++) yield PART
        } finally {
          resolve()
        }
      }
      const app = createApp().get('/', (c) => c.body(NodeStream.from(parts()) as ReadableStream<Uint8Array>))
      void open(app)
        .then(askAndPause)
        .then(async (socket) => {
          for (let turn = 0; turn < 1000; turn++) await new Promise((next) => setImmediate(next))
          socket.destroy()
        })
    })
    await ended
    expect(given).toBeLessThan(PARTS / 5)
  })

  test('leaves before its answer ends the work for it', async () => {
    await new Promise<void>((resolve) => {
      let leave = () => {}
      const app = createApp().get('/', ({ req }) => {
        req.raw.signal.addEventListener('abort', () => resolve())
        leave()
        return new Promise<Response>(() => {})
      })
      void open(app).then((port) => {
        const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'))
        leave = () => socket.destroy()
      })
    })
  })
})
