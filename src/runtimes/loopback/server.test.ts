import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createApp } from './app.ts'
import type { GuardRules } from './guard.ts'
import { type LoopbackServer, openLoopback } from './server.ts'
import { sendLines } from './testing/raw-http.ts'
import { acceptSockets } from './web-sockets.ts'

let server: LoopbackServer | null = null
afterEach(() => server?.close())

/** Says hello to whoever is let in; the first line is the request's, `PORT` its port. */
async function ask(rules: GuardRules, ...lines: readonly string[]) {
  const app = createApp().get('/', (c) => c.text('hello'))
  server = await openLoopback({ app, rules, headers: { 'X-Kept': 'yes' }, port: 0 })
  const { port } = new URL(server.origin)
  return sendLines(
    Number(port),
    lines.map((line) => line.replace('PORT', port)),
  )
}

const GET = 'GET / HTTP/1.1'
const HOST = 'Host: 127.0.0.1:PORT'

describe.each<[string, GuardRules, [number, number, number, number, number]]>([
  ['a server of its own pages', {}, [421, 421, 403, 403, 403]],
  ['one that may be forwarded', { mayBeForwarded: true }, [200, 200, 403, 403, 403]],
  ['one that is public', { isPublic: true }, [421, 421, 200, 200, 405]],
  ['one that a file leads to', { arrival: '/?token=' }, [421, 421, 403, 403, 403]],
])('%s', (_, rules, [port, name, origin, site, post]) => {
  test.each([
    ['its own pages', [GET, HOST, 'Origin: http://127.0.0.1:PORT', 'Sec-Fetch-Site: same-origin'], 200],
    ['its other name', [GET, 'Host: localhost:PORT'], 200],
    ['another name', [GET, 'Host: evil.test:PORT'], 421],
    ['a port that nobody has', [GET, 'Host: localhost:65536'], 421],
    ['a request for a proxy', ['GET http://127.0.0.1:PORT/ HTTP/1.1', HOST], 421],
    ['another port', [GET, 'Host: 127.0.0.1:9'], port],
    ['its name in IPv6', [GET, 'Host: [::1]:PORT'], name],
    ['the origin of another site', [GET, HOST, 'Origin: http://evil.test'], origin],
    ['a link of another site', [GET, HOST, 'Sec-Fetch-Site: cross-site'], site],
    ['a form of another site', ['POST / HTTP/1.1', HOST, 'Origin: http://evil.test'], post],
    ['another method', ['PUT / HTTP/1.1', HOST], 405],
  ])('answers %s', async (_, lines, status) => {
    const answer = await ask(rules, ...lines)
    expect([answer.status, answer.headers.get('x-kept')]).toEqual([status, 'yes'])
  })
})

test.each([
  ['a document from there', ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'], 200],
  ['a frame from there', ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe'], 403],
  ['an image from there', ['Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: image'], 403],
])('another site may lead to the address that it is told: %s', async (_, lines, status) => {
  const there = ['GET /?token=1 HTTP/1.1', HOST, 'Sec-Fetch-Site: cross-site', ...lines]
  expect((await ask({ arrival: '/?token=' }, ...there)).status).toBe(status)
})

describe('closing', () => {
  const neverAnswering = (asked: () => void) =>
    createApp().get('/', () => {
      asked()
      return new Promise<Response>(() => {})
    })

  test('ends connections that wait for an answer', async () => {
    let sent: Promise<unknown> = Promise.resolve()
    await new Promise<void>((resolve) => {
      void openLoopback({ app: neverAnswering(resolve), rules: {}, headers: {}, port: 0 }).then((opened) => {
        server = opened
        const port = Number(new URL(opened.origin).port)
        sent = sendLines(port, [GET, `Host: 127.0.0.1:${port}`])
      })
    })
    await server!.close()
    await sent
    await expect(fetch(server!.origin)).rejects.toThrow()
  })

  test('ends connections that said nothing, and WebSockets', async () => {
    const taken = new Promise<WebSocket>((take) => {
      const onUpgrade = acceptSockets({}, () => take)
      void openLoopback({ app: createApp(), rules: {}, headers: {}, port: 0, onUpgrade }).then((opened) => {
        server = opened
        const page = new WebSocket(opened.origin.replace('http', 'ws'), { origin: opened.origin })
        page.on('error', () => {})
      })
    })
    const socket = await taken
    const silent = connect(Number(new URL(server!.origin).port), '127.0.0.1')
    await new Promise((resolve) => silent.once('connect', resolve))
    const ended = [socket, silent].map((end) => new Promise((resolve) => end.once('close', resolve)))
    await server!.close()
    await Promise.all(ended)
  })
})
