import { setTimeout as delay } from 'node:timers/promises'
import { type Clock, SYSTEM_CLOCK } from '../../../domain/clock.ts'
import { UsageError } from '../../../domain/errors.ts'
import { cleanProse } from '../../../domain/text.ts'
import type { HubSettings } from './settings.ts'

/** How patient requests are. */
export interface RetryPolicy {
  /** For the first byte of an answer, and between two parts of it. */
  readonly silenceMs: number
  /** Before the second attempt; twice as long before each one after it. */
  readonly pauseMs: number
  readonly attempts: number
  /** Measures silence; the system's by default. */
  readonly clock?: Clock
}

export const RETRY_POLICY: RetryPolicy = { silenceMs: 30_000, pauseMs: 500, attempts: 5 }

export interface HubAnswer {
  readonly response: Response
  /** Headers of the hub's own answer, before any redirect. */
  readonly hubHeaders: Headers
  /** Call it whenever a part of the body arrives. */
  readonly heard: () => void
  readonly close: () => void
}

export interface Call {
  readonly settings: HubSettings
  readonly retryPolicy: RetryPolicy
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

const REDIRECTS = [301, 302, 303, 307, 308]
const MAX_REDIRECTS = 10
const PASSING = [408, 429, 500, 502, 503, 504]
/** Errors that a retry will not fix. */
const LASTING = [
  'ENOTFOUND',
  'ECONNREFUSED',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]

/** The hub could not be reached. */
export class Unreachable extends UsageError {
  readonly isLasting: boolean
  constructor(message: string, isLasting: boolean, options?: ErrorOptions) {
    super('network', message, options)
    this.isLasting = isLasting
  }
}

/** Retries until there is a final answer. */
export async function ask(url: string, call: Call): Promise<HubAnswer> {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt >= call.retryPolicy.attempts
    const answer = await askOnce(url, call).catch((error: unknown) => {
      if (isLast || !(error instanceof Unreachable) || error.isLasting) throw error
      return null
    })
    if (answer && (isLast || !PASSING.includes(answer.response.status))) return answer
    answer?.close()
    await pause(attempt, call, answer?.response.headers.get('retry-after') ?? null)
  }
}

export async function pause(
  attempt: number,
  { retryPolicy, signal }: Call,
  retryAfter: string | null = null,
): Promise<void> {
  const asked = Number(retryAfter ?? 0) * 1000
  const pauseMs = Math.max(retryPolicy.pauseMs * 2 ** (attempt - 1), asked > 0 ? Math.min(asked, 60_000) : 0)
  // Only a signal can break it off, and then its own reason is what counts.
  await delay(pauseMs, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted())
}

/** Follows redirects itself: the token goes to the hub and to nobody else. */
async function askOnce(start: string, call: Call): Promise<HubAnswer> {
  const watch = new SilenceWatch(call)
  let url = new URL(start)
  let hubHeaders: Headers | undefined
  try {
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const response = await fetch(url, { headers: headersFor(url, call), redirect: 'manual', signal: watch.signal })
      hubHeaders ??= response.headers
      if (!REDIRECTS.includes(response.status)) {
        return { response, hubHeaders, heard: () => watch.heard(), close: () => watch.close() }
      }
      url = nextUrl(response, url)
      watch.heard()
    }
    throw new UsageError('network', `${new URL(start).origin} answers with too many redirects`)
  } catch (error) {
    watch.close()
    throw explainFailure(error, url, call)
  }
}

/** Where a redirect leads; never from https to http, where others could read and change the rest. */
export function nextUrl(response: Response, from: URL): URL {
  const location = response.headers.get('location') ?? ''
  const url = URL.canParse(location, from.href) ? new URL(location, from.href) : null
  if (url && from.protocol === 'https:' && url.protocol === 'http:') {
    throw new UsageError(
      'network',
      `${from.origin} redirects to ${url.origin}, which is not encrypted; check HF_ENDPOINT`,
    )
  }
  if (url && /^https?:$/.test(url.protocol)) return url
  throw new UsageError('network', `${from.origin} answers with a redirect that has no valid address`)
}

function headersFor(url: URL, { settings, headers }: Call): Record<string, string> {
  const isHub = url.origin === new URL(settings.endpoint).origin
  const login = isHub && settings.token !== null ? { authorization: `Bearer ${settings.token}` } : {}
  return { 'user-agent': 'assay', 'accept-encoding': 'identity', ...headers, ...login }
}

/** Ends a request that stays silent. */
class SilenceWatch {
  readonly #controller = new AbortController()
  readonly #call: Call
  readonly #stop = () => this.#controller.abort(this.#call.signal?.reason)
  #cancel: () => void = () => {}

  constructor(call: Call) {
    this.#call = call
    call.signal?.throwIfAborted()
    call.signal?.addEventListener('abort', this.#stop)
    this.heard()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  heard(): void {
    const { silenceMs, clock = SYSTEM_CLOCK } = this.#call.retryPolicy
    this.#cancel()
    const silent = new Error(`no data came for ${silenceMs / 1000} s`)
    this.#cancel = clock.after(silenceMs, () => this.#controller.abort(silent))
  }

  /** Ends the answer too, where all of it was not read. */
  close(): void {
    this.#cancel()
    this.#call.signal?.removeEventListener('abort', this.#stop)
    this.#controller.abort(new Error('closed'))
  }
}

/** A failure of the network in words; others as they are. */
export function explainFailure(error: unknown, url: URL | string, { signal }: Call): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof UsageError || !(error instanceof Error)) return error
  const { host } = new URL(url)
  const { cause } = error
  const code = codeOf(cause) ?? codeOf(error) ?? ''
  const said = cleanProse(cause instanceof Error && cause.message !== '' ? cause.message : error.message, 200)
  const reason = said.includes(code) ? said : `${said} (${code})`
  const advice = 'check the network, name a mirror with HF_ENDPOINT, or give the folder of a local model'
  const isLasting = LASTING.includes(code)
  return new Unreachable(`cannot reach ${host}: ${reason}${proxyHint()}; ${advice}`, isLasting, { cause: error })
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

function proxyHint(): string {
  const { HTTPS_PROXY, https_proxy, NODE_USE_ENV_PROXY } = process.env
  const isIdle = (HTTPS_PROXY ?? https_proxy) && !NODE_USE_ENV_PROXY
  return isIdle ? ' (HTTPS_PROXY is set, but Node uses it only from version 24 on and with NODE_USE_ENV_PROXY=1)' : ''
}
