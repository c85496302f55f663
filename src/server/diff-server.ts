import type { GivenTolerance } from '../compare/slice/contract.ts'
import { FormatError, StageError, UsageError } from '../domain/errors.ts'
import { toJson } from '../domain/json.ts'
import { cleanProse } from '../domain/text.ts'
import type { TensorPair } from '../files/slices/tensor-pairs.ts'
import { createApp, type LoopbackApp, type LoopbackContext, say } from '../runtimes/loopback/app.ts'
import { readTarget } from '../runtimes/loopback/request-target.ts'
import { SAFE_HEADERS } from '../runtimes/loopback/safe-headers.ts'
import { openLoopback } from '../runtimes/loopback/server.ts'
import { DiffApi } from './diff-api.ts'
import { type PageFile, readPage } from './page-file.ts'
import { ARRIVAL, PageSession } from './page-session.ts'
import type { KnownRules } from './pair-judge.ts'

export interface ServeDiffOptions extends GivenTolerance, KnownRules {
  /** What is compared, in words. */
  readonly title: string
}

export interface DiffServer {
  /** What to open; its token works once, in the browser that opens it first. */
  readonly url: string
  close(): Promise<void>
}

/** Serves a page that shows pairs of tensors, to whoever has the address and to nobody else. */
export async function serveDiff(pairs: readonly TensorPair[], options: ServeDiffOptions): Promise<DiffServer> {
  const { title, ruleOf, judged, ...given } = options
  const known = { ...(ruleOf && { ruleOf }), ...(judged && { judged }) }
  const session = new PageSession()
  const app = createDiffApp(session, new DiffApi(title, pairs, given, known), await readPage('diff.html'))
  const { origin, close } = await openLoopback({ app, rules: { arrival: ARRIVAL }, headers: SAFE_HEADERS, port: 0 })
  return { url: `${origin}${ARRIVAL}${session.token}`, close }
}

function createDiffApp(session: PageSession, api: DiffApi, page: PageFile): LoopbackApp {
  const app = createApp().onError(explain)
  session.protect(app)
  app.get('/', (c) => c.body(page.html, 200, page.headers))
  app.get('/api/pairs', (c) => sendJson(c, api.pairs()))
  app.get('/api/verdict', async (c) => sendJson(c, await api.verdict(queryOf(c))))
  app.get('/api/slice', (c) => sendSlice(c, api))
  return app
}

const queryOf = ({ env }: LoopbackContext) => readTarget(env.incoming).query

function sendJson(c: LoopbackContext, value: unknown): Response {
  return c.body(toJson(value), 200, { 'Content-Type': 'application/json; charset=utf-8' })
}

async function sendSlice(c: LoopbackContext, api: DiffApi): Promise<Response> {
  const { header, parts } = await api.slice(queryOf(c), c.req.raw.signal)
  const text = Buffer.from(toJson(header))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.byteLength)
  return c.body(Buffer.concat([length, text, ...parts]), 200, { 'Content-Type': 'application/octet-stream' })
}

/** Whoever has gone away needs no answer; the page shows the others. */
function explain(error: Error, c: LoopbackContext): Response {
  const status = error instanceof UsageError ? 400 : 500
  const isKnown = error instanceof UsageError || error instanceof FormatError || error instanceof StageError
  const { message } = error
  return say(c, status, isKnown ? message : `${cleanProse(message)}: run the command again, the files may have changed`)
}
