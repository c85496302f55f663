import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { explainWriteError, writeAt } from '../../../files/disk/atomic.ts'
import { computeDigest, sha256File } from '../../../files/disk/digest.ts'
import { fileChunks } from '../../../files/disk/regular-file.ts'
import { explainFailure, type HubAnswer, pause, Unreachable } from './http.ts'
import { type HubClient, type HubFile, readHex } from './hub-client.ts'

interface DownloadRequest {
  readonly client: HubClient
  readonly id: string
  readonly commit: string
  readonly file: HubFile
  /** Folder of the model in the cache. */
  readonly repository: string
  /** Gets how many bytes of the file are there, whenever there are more. */
  readonly onBytes: (doneBytes: number) => void
}

/** A partial file not written to for this long is abandoned. */
const ABANDONED_MS = 60_000

/** Brings a file's content into the cache and gives the name of its blob. */
export async function downloadBlob(request: DownloadRequest): Promise<string> {
  const { file, repository } = request
  const blobs = join(repository, 'blobs')
  const known = file.sha256 ?? file.gitId
  if (known !== null && (await isWhole(join(blobs, known), file.byteLength))) return known
  const key = known ?? computeDigest([request.commit, file.name]).slice(0, 40)
  try {
    await mkdir(blobs, { recursive: true })
    const part = await claimPart(blobs, key)
    return await completePart(request, part, join(blobs, `${key}.assay-left.incomplete`))
  } catch (error) {
    throw explainWriteError(error, blobs)
  }
}

async function isWhole(path: string, byteLength: number | null): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found?.isFile() === true && (byteLength === null || found.size === byteLength)
}

/** A partial file of an earlier download, or an empty one, under a name of our own. */
async function claimPart(blobs: string, key: string): Promise<string> {
  const own = join(blobs, `${key}.assay-${process.pid}-${randomBytes(4).toString('hex')}.incomplete`)
  const parts = (await readdir(blobs)).filter((name) => name.startsWith(`${key}.assay-`))
  for (const name of parts) {
    const path = join(blobs, name)
    const isLeft = name.includes('.assay-left.') || (await ageMs(path)) > ABANDONED_MS
    if (isLeft && (await isTaken(path, own))) return own
  }
  return own
}

/** Another process may have been faster. */
async function isTaken(path: string, own: string): Promise<boolean> {
  return rename(path, own).then(
    () => true,
    () => false,
  )
}

async function ageMs(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  )
}

async function completePart(request: DownloadRequest, part: string, left: string): Promise<string> {
  let facts: DownloadFacts
  try {
    facts = await fetchPart(request, part)
  } catch (error) {
    await rename(part, left).catch(() => undefined)
    throw error
  }
  try {
    await verify(request, part, facts)
    const name = request.file.sha256 ?? request.file.gitId ?? facts.blob
    await rename(part, join(request.repository, 'blobs', name))
    return name
  } finally {
    await rm(part, { force: true })
  }
}

/** What the answers to a download say about the file. */
interface DownloadFacts {
  readonly byteLength: number | null
  readonly sha256: string | null
  readonly blob: string
}

/** Resumes an interrupted download as long as there is progress. */
async function fetchPart(request: DownloadRequest, part: string): Promise<DownloadFacts> {
  const { call } = request.client
  const handle = await open(part, constants.O_RDWR | constants.O_CREAT)
  try {
    for (let attempt = 1; ; attempt++) {
      const before = (await handle.stat()).size
      try {
        const facts = await fetchRest(request, handle, before, part)
        await handle.sync()
        return facts
      } catch (error) {
        if (!(error instanceof Unreachable) || error.isLasting || attempt >= call.retryPolicy.attempts) throw error
        if ((await handle.stat()).size > before) attempt = 0
        await pause(Math.max(1, attempt), call)
      }
    }
  } finally {
    await handle.close()
  }
}

async function fetchRest(
  request: DownloadRequest,
  handle: FileHandle,
  from: number,
  part: string,
): Promise<DownloadFacts> {
  const { client, id, commit, file } = request
  if (file.byteLength !== null && from > file.byteLength) return restart(request, handle, part)
  if (file.byteLength === from && from > 0) return readFacts(new Headers(), request, from)
  const answer = await client.file(id, commit, file.name, from)
  try {
    if (answer.response.status === 416 && from > 0) return await restart(request, handle, part)
    if (!answer.response.ok) throw client.refusal({ id, revision: commit }, answer.response, file.name)
    return await receive(request, answer, handle, from, part)
  } finally {
    answer.close()
  }
}

async function restart(request: DownloadRequest, handle: FileHandle, part: string): Promise<DownloadFacts> {
  await handle.truncate(0)
  return fetchRest(request, handle, 0, part)
}

async function receive(
  request: DownloadRequest,
  { response, hubHeaders, heard }: HubAnswer,
  handle: FileHandle,
  from: number,
  part: string,
): Promise<DownloadFacts> {
  const start = response.status === 206 ? rangeStart(response, from) : 0
  const rest = countIn(response.headers.get('content-length'))
  const facts = readFacts(hubHeaders, request, rest === null ? null : start + rest)
  let at = start
  if (start < from) await handle.truncate(start)
  try {
    for await (const chunk of response.body ?? []) {
      heard()
      if (facts.byteLength !== null && at + chunk.byteLength > facts.byteLength)
        throw tooMuch(request, facts.byteLength)
      await writeAt(handle, chunk, at, part)
      at += chunk.byteLength
      request.onBytes(at)
    }
  } catch (error) {
    throw explainFailure(error, response.url, request.client.call)
  }
  if (facts.byteLength !== null && at < facts.byteLength) {
    throw new Unreachable(`${request.file.name} broke off after ${at} of ${facts.byteLength} bytes; try again`, false)
  }
  return facts
}

/** A file longer than announced is wrong, and may never end. */
function tooMuch({ file, client }: DownloadRequest, byteLength: number): UsageError {
  const from = new URL(client.call.settings.endpoint).host
  return new UsageError(
    'damaged',
    `${file.name} from ${from} is longer than the ${byteLength} bytes that the hub announced`,
  )
}

/** Refuses a server that sends a different part than requested. */
function rangeStart(response: Response, from: number): number {
  const start = countIn(/^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1] ?? null)
  if (start === from) return from
  throw new UsageError(
    'network',
    `${new URL(response.url).host} sent a different part of the file than was requested; try again`,
  )
}

function readFacts(headers: Headers, { file, commit }: DownloadRequest, received: number | null): DownloadFacts {
  const tag = (headers.get('x-linked-etag') ?? headers.get('etag') ?? '').replace(/^W\//, '').replaceAll('"', '')
  return {
    byteLength: file.byteLength ?? countIn(headers.get('x-linked-size')) ?? received,
    sha256: file.sha256 ?? readHex(headers.get('x-linked-etag')?.replaceAll('"', ''), 64),
    blob: readHex(tag, 64) ?? readHex(tag, 40) ?? computeDigest([commit, file.name]).slice(0, 40),
  }
}

function countIn(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}

async function verify({ file, client }: DownloadRequest, part: string, facts: DownloadFacts): Promise<void> {
  const { size } = await stat(part)
  const from = new URL(client.call.settings.endpoint).host
  const refuse = (found: string) =>
    new UsageError('damaged', `${file.name} from ${from} ${found}; it was removed, try again`)
  if (facts.byteLength !== null && size !== facts.byteLength)
    throw refuse(`has ${size} bytes, expected ${facts.byteLength}`)
  if (facts.sha256 !== null && (await sha256File(part)) !== facts.sha256)
    throw refuse(`has a different SHA-256 than the hub says`)
  if (file.gitId !== null && (await gitIdOf(part, size)) !== file.gitId) throw refuse('is not what the hub has')
}

async function gitIdOf(path: string, byteLength: number): Promise<string> {
  const hash = createHash('sha1').update(`blob ${byteLength}\0`)
  for await (const chunk of fileChunks(path)) hash.update(chunk)
  return hash.digest('hex')
}
