import { stat } from 'node:fs/promises'
import { basename, extname, relative } from 'node:path'
import { FormatError, UsageError } from '../../domain/errors.ts'
import { suggest } from '../../domain/suggest.ts'
import { computeDigest, type FileDigests } from '../../files/disk/digest.ts'
import { walkFiles } from '../../files/disk/glob.ts'
import { nearFile } from '../../files/disk/near-file.ts'
import { readExactly, withFile } from '../../files/disk/read-range.ts'
import { jsonItems } from '../../files/formats/json-items.ts'
import { lineItems } from '../../files/formats/line-items.ts'
import { readPrompt } from './prompt-of.ts'

/** Where the text of a prompt lies: number of the file, first byte, how many. */
export type TextPlace = readonly [file: number, offset: number, byteLength: number]

export interface SourceEntry {
  readonly place: TextPlace
  readonly text: string
}

/** Somewhere that prompts come from. */
export interface PromptSource {
  readonly name: string
  readonly digest: string
  /** Conversations are sampled by the documented rule: nothing is cut and nothing is joined. */
  readonly isConversations: boolean
  readonly byteLength: number
  entries(): AsyncIterable<SourceEntry>
  read(place: TextPlace): Promise<string>
}

type Form = 'json' | 'json-lines' | 'lines' | 'whole'

/** A JSON list, JSON lines, a text with a prompt on each line, or a folder with a prompt in each file. */
export async function openSource(path: string, digests: FileDigests): Promise<PromptSource> {
  const found = await stat(path).catch(() => null)
  if (!found) throw noSource(path)
  return found.isDirectory() ? openFolder(path, digests) : openFile(path, found.size, digests)
}

async function openFile(path: string, byteLength: number, digests: FileDigests): Promise<PromptSource> {
  const form = formOf(path)
  const digest = computeDigest({ form, file: await digests.of(path) })
  const isConversations = form !== 'lines' && (await beginsWithConversation(path, byteLength, form))
  const files = [{ path, byteLength, form }]
  return sourceOf({ name: basename(path), digest, isConversations, byteLength }, files)
}

function formOf(path: string): Form {
  const extension = extname(path).toLowerCase()
  if (extension === '.json') return 'json'
  return extension === '.jsonl' || extension === '.ndjson' ? 'json-lines' : 'lines'
}

async function openFolder(folder: string, digests: FileDigests): Promise<PromptSource> {
  const files: PromptFile[] = []
  const parts: Record<string, string> = {}
  for (const path of walkFiles(folder)) {
    if (basename(path).startsWith('.')) continue
    files.push({ path, byteLength: (await stat(path)).size, form: 'whole' })
    parts[relative(folder, path)] = await digests.of(path)
  }
  const byteLength = files.reduce((sum, file) => sum + file.byteLength, 0)
  return sourceOf({ name: basename(folder), digest: computeDigest(parts), isConversations: false, byteLength }, files)
}

interface PromptFile {
  readonly path: string
  readonly byteLength: number
  readonly form: Form
}

function sourceOf(facts: Omit<PromptSource, 'entries' | 'read'>, files: readonly PromptFile[]): PromptSource {
  return {
    ...facts,
    async *entries() {
      for (const [number, file] of files.entries()) yield* entriesOf(file, number, facts.isConversations)
    },
    async read([number, offset, byteLength]) {
      const { path, form } = files[number]!
      const bytes = await withFile(path, (handle) => readExactly(handle, offset, byteLength, path))
      const text = form === 'json' || form === 'json-lines' ? readPrompt(bytes, path).text : textOf(bytes, path)
      if (text === null) throw new FormatError('prompts', `${path} was changed while it was read; start again`)
      return text
    },
  }
}

async function* entriesOf(file: PromptFile, number: number, isConversations: boolean): AsyncGenerator<SourceEntry> {
  const { path, form } = file
  let count = 0
  for await (const { offset, bytes } of itemsOf(file)) {
    count++
    if (form !== 'json' && isBlank(bytes)) continue
    const where = form === 'json' ? `${path}, element ${count}` : `${path}, line ${count}`
    const text =
      form === 'json' || form === 'json-lines' ? recordText(bytes, where, isConversations) : textOf(bytes, where)
    if (text !== null) yield { place: [number, offset, bytes.length], text }
  }
}

/** One rule holds for all of a file. */
function recordText(bytes: Uint8Array, where: string, isConversations: boolean): string | null {
  const { kind, text } = readPrompt(bytes, where)
  if ((kind === 'conversation') === isConversations) return text
  const [found, others] = isConversations ? ['a prompt', 'conversations'] : ['a conversation', 'prompts']
  throw new FormatError('prompts', `${where} is ${found} among ${others}; give them as two files`)
}

async function* itemsOf({ path, byteLength, form }: PromptFile): AsyncGenerator<{ offset: number; bytes: Uint8Array }> {
  if (form === 'whole')
    yield { offset: 0, bytes: await withFile(path, (handle) => readExactly(handle, 0, byteLength, path)) }
  else yield* form === 'json' ? jsonItems(path, byteLength) : lineItems(path, byteLength)
}

async function beginsWithConversation(path: string, byteLength: number, form: Form): Promise<boolean> {
  for await (const { bytes } of itemsOf({ path, byteLength, form })) {
    if (!isBlank(bytes)) return readPrompt(bytes, `${path}, first record`).kind === 'conversation'
  }
  return false
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))
}

/** Without the line end of another system, or the mark that some editors begin a file with. */
function textOf(bytes: Uint8Array, where: string): string {
  if (bytes.includes(0)) throw new FormatError('prompts', `${where} is not text: it has a zero byte; give text files`)
  return new TextDecoder().decode(bytes).replace(/\r?\n?$/, '')
}

function noSource(path: string): UsageError {
  const advice = suggest(nearFile(path), 'give a .json, .jsonl or .txt file, or a folder of text files')
  return new UsageError('prompts', `prompts: ${path} does not exist; ${advice}`)
}
