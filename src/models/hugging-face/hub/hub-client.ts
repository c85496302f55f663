import { FormatError, UsageError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/json.ts'
import { cleanProse } from '../../../domain/text.ts'
import { joinBytes } from '../../../tensors/join-bytes.ts'
import { checkFileName } from './file-name.ts'
import { ask, type Call, explainFailure, type HubAnswer, RETRY_POLICY, type RetryPolicy } from './http.ts'
import { isCommit, type ModelId } from './model-id.ts'
import type { HubSettings } from './settings.ts'

/** A file of a model on the hub, with what the hub says about its content. */
export interface HubFile {
  readonly name: string
  readonly byteLength: number | null
  readonly sha256: string | null
  /** As Git names the content. */
  readonly gitId: string | null
}

export interface HubModel {
  readonly commit: string
  readonly files: readonly HubFile[]
}

/** Limit of the hub's answer about a model; a list of 100,000 files takes about 30 MiB. */
const MOST_BYTES = 64 * 2 ** 20

/** Speaks to one hub. */
export class HubClient {
  readonly #call: Call

  constructor(
    settings: HubSettings,
    options: { readonly retryPolicy?: RetryPolicy; readonly signal?: AbortSignal } = {},
  ) {
    const signal = options.signal ? { signal: options.signal } : {}
    this.#call = { settings, retryPolicy: options.retryPolicy ?? RETRY_POLICY, ...signal }
  }

  get call(): Call {
    return this.#call
  }

  /** Which commit a revision is, and its files. */
  async model(asked: ModelId): Promise<HubModel> {
    const { endpoint } = this.#call.settings
    const url = `${endpoint}/api/models/${asked.id}/revision/${encodeURIComponent(asked.revision)}?blobs=true`
    const answer = await ask(url, this.#call)
    try {
      if (!answer.response.ok) throw this.refusal(asked, answer.response)
      return readModel(JSON.parse(await this.#text(answer, asked.id)), asked.id)
    } catch (error) {
      throw error instanceof SyntaxError ? strange(asked.id, 'no JSON', error) : error
    } finally {
      answer.close()
    }
  }

  async #text({ response, heard }: HubAnswer, id: string): Promise<string> {
    const parts: Uint8Array[] = []
    let byteLength = 0
    try {
      for await (const part of response.body ?? []) {
        heard()
        byteLength += part.byteLength
        if (byteLength > MOST_BYTES) throw strange(id, `more than ${MOST_BYTES / 2 ** 20} MiB`)
        parts.push(part)
      }
    } catch (error) {
      throw error instanceof FormatError ? error : explainFailure(error, response.url, this.#call)
    }
    return new TextDecoder().decode(joinBytes(parts))
  }

  /** A file's content from a byte on, where the server can do that. */
  async file(id: string, commit: string, name: string, fromByte: number): Promise<HubAnswer> {
    const path = name.split('/').map(encodeURIComponent).join('/')
    const range: Record<string, string> = fromByte > 0 ? { range: `bytes=${fromByte}-` } : {}
    return ask(`${this.#call.settings.endpoint}/${id}/resolve/${commit}/${path}`, { ...this.#call, headers: range })
  }

  /** Why the hub refuses, and what the user can do. */
  refusal({ id, revision }: ModelId, response: Response, name?: string): UsageError {
    const { endpoint, token } = this.#call.settings
    const code = response.headers.get('x-error-code')
    const what = name === undefined ? id : `${name} of ${id}`
    const page = `${endpoint}/${id}`
    if (code === 'GatedRepo' || response.status === 403) {
      const login =
        token === null
          ? ', then set HF_TOKEN to a token of that account'
          : ' (the account of the current token has no access)'
      return new UsageError('gated', `${what} is gated: ask for access at ${page}${login}`)
    }
    if (response.status === 401) return new UsageError('login', unknownOrPrivate(id, endpoint, token))
    if (code === 'RevisionNotFound')
      return new UsageError('revision', `${id} has no revision ${revision} at ${endpoint}`)
    if (response.status === 404)
      return new UsageError('unknown-model', `there is no ${what} at ${endpoint}; check the name`)
    const said = cleanProse(response.headers.get('x-error-message') ?? response.statusText, 200)
    return new UsageError('hub', `${endpoint} answers ${response.status} ${said} for ${what}; try again later`)
  }
}

/** The hub answers the same for models that do not exist and for private ones. */
function unknownOrPrivate(id: string, endpoint: string, token: string | null): string {
  const advice =
    token === null
      ? 'check the name, or set HF_TOKEN if it is private or gated'
      : 'check the name, and whether the current token is valid and may read it'
  return `${id} does not exist at ${endpoint} or needs a login (the hub does not say which); ${advice}`
}

function readModel(answer: unknown, id: string): HubModel {
  const commit = member(answer, 'sha')
  const siblings = member(answer, 'siblings')
  if (typeof commit !== 'string' || !isCommit(commit) || !Array.isArray(siblings)) throw strange(id, 'no list of files')
  return { commit, files: siblings.flatMap((sibling: unknown) => readFileFacts(sibling, id)) }
}

/** Empty for a file name that some systems cannot have. */
function readFileFacts(sibling: unknown, id: string): HubFile[] {
  const name = member(sibling, 'rfilename')
  if (typeof name !== 'string') throw strange(id, 'a file without a name')
  if (/[\\:\u0000-\u001f\u007f]/.test(name)) return []
  const lfs = member(sibling, 'lfs')
  const size = member(lfs, 'size') ?? member(sibling, 'size')
  const facts = {
    name: checkFileName(name, id),
    byteLength: typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null,
    sha256: readHex(member(lfs, 'sha256') ?? member(lfs, 'oid'), 64),
    gitId: lfs ? null : readHex(member(sibling, 'blobId'), 40),
  }
  return [facts]
}

function member(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined
}

export function readHex(value: unknown, digits: number): string | null {
  return typeof value === 'string' && value.length === digits && /^[0-9a-f]+$/.test(value) ? value : null
}

function strange(id: string, found: string, cause?: unknown): FormatError {
  return new FormatError('hub', `the hub answers ${found} for ${id}; check HF_ENDPOINT`, { cause })
}
