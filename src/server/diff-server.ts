import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GivenTolerance } from '../compare/slice/contract.ts'
import { FormatError, StageError, UsageError } from '../domain/errors.ts'
import { toJson } from '../domain/json.ts'
import { cleanProse } from '../domain/text.ts'
import type { TensorPair } from '../files/slices/tensor-pairs.ts'
import { readTarget } from '../runtimes/loopback/request-target.ts'
import { SAFE_HEADERS } from '../runtimes/loopback/safe-headers.ts'
import { isSecret, newSecret } from '../runtimes/loopback/secret.ts'
import { openLoopback } from '../runtimes/loopback/server.ts'
import { DiffApi } from './diff-api.ts'
import { type PageFile, readPage } from './page-file.ts'
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
  const site: Site = {
    api: new DiffApi(title, pairs, given, known),
    page: await readPage('diff.html'),
    token: newSecret(),
    session: newSecret(),
  }
  const { origin, close } = await openLoopback({
    answer: (request, response) => void answer(request, response, site),
    rules: { arrival: '/?token=' },
    headers: SAFE_HEADERS,
    port: 0,
  })
  return { url: `${origin}/?token=${site.token}`, close }
}

interface Site {
  readonly api: DiffApi
  readonly page: PageFile
  /** Null once somebody has it exchanged for the session. */
  token: string | null
  readonly session: string
}

async function answer(request: IncomingMessage, response: ServerResponse, site: Site): Promise<void> {
  const { path, query } = readTarget(request)
  const isKnown = isSecret(cookieOf(request, cookieName(request)), site.session)
  if (path === '/' && query.has('token')) return admit(request, response, query.get('token')!, isKnown, site)
  if (!isKnown) return say(response, 401, 'open the address that the command printed; it works once, in one browser')
  try {
    await route(path, query, response, site)
  } catch (error) {
    explain(response, error)
  }
}

const STEP = '<!doctype html><title>Assay</title><meta http-equiv="refresh" content="0;url=/">'

const cookieName = ({ socket }: IncomingMessage) => `assay-${socket.localPort}`

/** Exchanges the token of the address for a cookie, so that it does not stay in the address bar. */
function admit(request: IncomingMessage, response: ServerResponse, given: string, isKnown: boolean, site: Site): void {
  if (!isKnown && !(site.token !== null && isSecret(given, site.token))) {
    say(response, 401, 'this address has been opened before or was copied wrongly; run the command again')
    return
  }
  site.token = null
  const header = `${cookieName(request)}=${site.session}; HttpOnly; SameSite=Strict; Path=/`
  response.setHeader('Set-Cookie', header)
  // A browser that comes from elsewhere keeps the cookie to itself until a page of ours leads on.
  if (request.headers['sec-fetch-site'] === 'cross-site')
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(STEP)
  else response.writeHead(303, { Location: '/' }).end()
}

async function route(path: string, query: URLSearchParams, response: ServerResponse, site: Site): Promise<void> {
  if (path === '/') return send(response, site.page.headers, Buffer.from(site.page.html))
  if (path === '/api/pairs') return sendJson(response, site.api.pairs())
  if (path === '/api/verdict') return sendJson(response, await site.api.verdict(query))
  if (path === '/api/slice') return sendSlice(query, response, site)
  say(response, 404, 'not found')
}

async function sendSlice(query: URLSearchParams, response: ServerResponse, { api }: Site): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const { header, parts } = await api.slice(query, gone.signal)
  const text = Buffer.from(toJson(header))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.byteLength)
  send(response, { 'Content-Type': 'application/octet-stream' }, Buffer.concat([length, text, ...parts]))
}

function sendJson(response: ServerResponse, value: unknown): void {
  send(response, { 'Content-Type': 'application/json; charset=utf-8' }, Buffer.from(toJson(value)))
}

type Headers = Readonly<Record<string, string>>

function send(response: ServerResponse, headers: Headers, body: Buffer, status = 200): void {
  response.writeHead(status, { ...headers, 'Content-Length': body.byteLength }).end(body)
}

function say(response: ServerResponse, status: number, text: string): void {
  send(response, { 'Content-Type': 'text/plain; charset=utf-8' }, Buffer.from(`${text}\n`), status)
}

/** The part of a cookie header after this name. */
function cookieOf({ headers }: IncomingMessage, name: string): string {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
}

/** Whoever has gone away needs no answer; the page shows the others. */
function explain(response: ServerResponse, error: unknown): void {
  if (response.destroyed) return
  const status = error instanceof UsageError ? 400 : 500
  const isKnown = error instanceof UsageError || error instanceof FormatError || error instanceof StageError
  const message = error instanceof Error ? error.message : String(error)
  say(response, status, isKnown ? message : `${cleanProse(message)}: run the command again, the files may have changed`)
}
