import { realpathSync } from 'node:fs'
import { type Document, isMap, isScalar, isSeq, Scalar, type YAMLMap, YAMLSeq } from 'yaml'
import { UsageError } from '../../domain/errors.ts'
import type { ExpectedFailure, NewEntry } from '../../domain/expected-failure.ts'
import { writeFileAtomic } from '../../files/disk/atomic.ts'
import type { Acceptance } from './accept-failures.ts'
import { ENTRY_KEYS, parseExpected } from './expected-file.ts'
import { type ExpectedPlace, readExpectedText } from './expected-place.ts'

const HEAD =
  ' Cases that are known not to pass. They still run, and any other outcome than the one written here is reported.'
const QUOTED: readonly string[] = ['id', 'error']

/** Writes what is accepted and gives all entries of the file, as they are read back from what was written. */
export async function writeAccepted(place: ExpectedPlace, change: Acceptance): Promise<readonly ExpectedFailure[]> {
  const text = readExpectedText(place, true)
  const edited = editExpected(text, place.shown, change)
  if (edited !== text) await writeFileAtomic(text === null ? place.path : realpathSync(place.path), edited)
  return parseExpected(edited, place.shown).entries
}

/** The file's new text; comments, order and all other entries stay. */
export function editExpected(text: string | null, shown: string, change: Acceptance): string {
  if (change.put.length + change.remove.length === 0) return text ?? ''
  const parsed = parseExpected((text ?? '').replaceAll('\r\n', '\n'), shown, true)
  const { document } = parsed
  const list = listOf(document)
  if (text === null || text.trim() === '') document.commentBefore = HEAD
  const mapOf = new Map(parsed.entries.map(({ id }, i) => [id, list.items[i]]))
  removeItems(document, list, new Set(change.remove.map((id) => mapOf.get(id))))
  for (const entry of change.put) {
    const map = mapOf.get(entry.id)
    if (isMap(map)) updateItem(map, entry)
    else appendItem(list, entry, document)
  }
  const edited = document.toString({ lineWidth: 0 })
  checkEdit(parsed.entries, edited, shown, change)
  return text?.includes('\r\n') ? edited.replaceAll('\n', '\r\n') : edited
}

/** Of a file that holds comments alone they become its head. */
function listOf(document: Document): YAMLSeq {
  if (isSeq(document.contents)) return document.contents
  const comments = [document.commentBefore, document.comment].filter((comment) => comment)
  const list = new YAMLSeq(document.schema)
  document.contents = list as Document['contents']
  document.commentBefore = comments.length > 0 ? comments.join('\n') : null
  document.comment = null
  return list
}

function appendItem(list: YAMLSeq, entry: NewEntry, document: Document): void {
  if (list.items.length === 0) list.flow = false
  const map = document.createNode({}) as YAMLMap
  map.spaceBefore = list.items.length > 0
  updateItem(map, entry)
  list.items.push(map)
}

/** Values change in place, so that the comments beside them stay. */
function updateItem(map: YAMLMap, entry: NewEntry): void {
  for (const key of ENTRY_KEYS) {
    const value = entry[key]
    const before = map.get(key, true)
    if (value === undefined) map.delete(key)
    else if (isScalar(before)) setText(before, key, value)
    else map.set(key, textScalar(key, value))
  }
}

function setText(scalar: Scalar, key: string, value: string | number): void {
  if (scalar.value === value) return
  scalar.value = value
  if (QUOTED.includes(key)) scalar.type = Scalar.QUOTE_DOUBLE
}

function textScalar(key: string, value: string | number): Scalar {
  const scalar = new Scalar(value)
  if (QUOTED.includes(key)) scalar.type = Scalar.QUOTE_DOUBLE
  return scalar
}

/** A comment right above an entry goes with it; what a blank line sets apart, and the head of the file, stays. */
function removeItems(document: Document, list: YAMLSeq, gone: ReadonlySet<unknown>): void {
  let kept = ''
  const items = list.items.filter((item, i) => {
    if (!isMap(item)) return true
    const isGone = gone.has(item)
    if (isGone) kept = joinComments(kept, apart(item.commentBefore) || (i === 0 ? (item.commentBefore ?? '') : ''))
    else if (kept !== '') {
      // A blank line after it, so that it still stands apart.
      item.commentBefore = item.commentBefore ? joinComments(kept, item.commentBefore) : `${kept}\n`
      kept = ''
    }
    return !isGone
  })
  list.items = items
  const first = items[0]
  if (isMap(first)) first.spaceBefore = false
  if (items.length > 0 && kept !== '') document.comment = joinComments(kept, document.comment ?? '')
  if (items.length > 0) return
  list.flow = true
  document.commentBefore = joinComments(document.commentBefore ?? '', kept)
}

function apart(comment: string | null | undefined): string {
  return (comment ?? '').split('\n\n').slice(0, -1).join('\n\n')
}

function joinComments(first: string, second: string): string {
  return first !== '' && second !== '' ? `${first}\n\n${second}` : first + second
}

/** Nobody's entries are lost to a mistake of ours: what is about to be written must read as it was meant. */
function checkEdit(before: readonly ExpectedFailure[], edited: string, shown: string, change: Acceptance): void {
  const changed = new Set([...change.remove, ...change.put.map(({ id }) => id)])
  const meant = [...before.filter(({ id }) => !changed.has(id)), ...change.put].map(fingerprint)
  const found = parseExpected(edited, shown).entries.map(fingerprint)
  if (meant.sort().join('\n') !== found.sort().join('\n')) {
    throw new UsageError('expected', `${shown} cannot be edited without changing other entries; write them by hand`)
  }
}

function fingerprint(entry: NewEntry): string {
  return JSON.stringify(ENTRY_KEYS.map((key) => entry[key] ?? null))
}
