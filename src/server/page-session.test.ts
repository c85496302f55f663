import { afterEach, beforeEach, expect, test } from 'vitest'
import { createApp } from '../runtimes/loopback/app.ts'
import { type LoopbackServer, openLoopback } from '../runtimes/loopback/server.ts'
import { sendLines } from '../runtimes/loopback/testing/raw-http.ts'
import { ARRIVAL, PageSession } from './page-session.ts'

let session: PageSession
let server: LoopbackServer
let port: number
beforeEach(async () => {
  session = new PageSession()
  const app = createApp()
  session.protect(app)
  app.get('/x', (c) => c.text('secret'))
  server = await openLoopback({ app, rules: { arrival: ARRIVAL }, headers: {}, port: 0 })
  port = Number(new URL(server.origin).port)
})
afterEach(() => server.close())

const get = (path: string, ...more: string[]) =>
  sendLines(port, [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...more])

async function arrive(): Promise<string> {
  const { headers } = await get(`${ARRIVAL}${session.token}`)
  return headers.get('set-cookie')!.split(';')[0]!
}

test('the browser that brings the token first is let in, and no other', async () => {
  expect((await get('/x')).status).toBe(401)
  const cookie = await arrive()
  expect((await get('/x', `Cookie: ${cookie}`)).body).toBe('secret')
  expect((await get(`${ARRIVAL}${session.token}`)).status).toBe(401)
})

test('what does not exist is told to the browser that was let in alone', async () => {
  expect((await get('/y')).status).toBe(401)
  expect((await get('/y', `Cookie: ${await arrive()}`)).status).toBe(404)
})

test('a token on another path is none', async () => {
  expect((await get(`/x?token=${session.token}`)).status).toBe(401)
  expect((await get(`/?a=1&token=${session.token}`)).status).toBe(303)
})

test('the cookie of a server on another port does not hide ours', async () => {
  const cookie = await arrive()
  const [name, value] = cookie.split('=')
  expect(name).toBe(`assay-${port}`)
  expect((await get('/x', `Cookie: assay-1=${'0'.repeat(32)}; ${cookie}`)).status).toBe(200)
  expect((await get('/x', `Cookie: assay-1=${value}`)).status).toBe(401)
})
