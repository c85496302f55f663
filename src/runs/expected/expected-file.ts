import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type YAMLMap } from 'yaml'
import { UsageError } from '../../domain/errors.ts'
import {
  dayProblem,
  EXPECTABLE,
  type ExpectedFailure,
  issueProblem,
  relL2Problem,
} from '../../domain/expected-failure.ts'
import { describeUnknown } from '../../domain/suggest.ts'
import { cleanText } from '../../domain/text.ts'
import { STAGES } from '../../domain/verdict.ts'
import { describeYamlProblem, parseYamlDocument } from '../../files/formats/yaml-document.ts'

export const ENTRY_KEYS = ['id', 'verdict', 'stage', 'side', 'error', 'relL2', 'issue', 'expires'] as const
type Key = (typeof ENTRY_KEYS)[number]
const SIDES = ['reference', 'target'] as const

interface ParsedExpected {
  readonly document: Document
  readonly entries: readonly ExpectedFailure[]
}

/** Reads the entries; whatever is wrong with one is said with its line. */
export function parseExpected(text: string, shown: string, mayBeEmpty = false): ParsedExpected {
  const lines = new LineCounter()
  const placeOf = (node: Node | null) => `${shown}:${node?.range ? lines.linePos(node.range[0]).line : 1}`
  const refuse: Refuse = (node, message) => new UsageError('expected', `${placeOf(node)}: ${message}`)
  const document = parseYaml(text, lines, shown)
  const maps = itemsOf(document, mayBeEmpty, refuse)
  const entries = maps.map((map) => readEntry(map, placeOf(map), refuse))
  refuseTwice(entries)
  return { document, entries }
}

type Refuse = (node: Node | null, message: string) => UsageError

const HINTS = {
  DUPLICATE_KEY: 'begin another entry with "- id:"',
  RESOURCE_EXHAUSTION: 'write a plain list of entries',
}

function parseYaml(text: string, lines: LineCounter, shown: string): Document {
  const document = parseYamlDocument(text, lines)
  if (!document)
    throw new UsageError('expected', `${shown}: not valid YAML: it nests too deep; ${HINTS.RESOURCE_EXHAUSTION}`)
  const problem = describeYamlProblem(document, text, lines, HINTS)
  if (problem === null) return document
  throw new UsageError('expected', `${shown}:${problem}`)
}

function itemsOf({ contents }: Document, mayBeEmpty: boolean, refuse: Refuse): YAMLMap[] {
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    if (mayBeEmpty) return []
    throw refuse(null, 'no entries; write [] for none, delete the file, or let --accept fill it')
  }
  if (!isSeq(contents)) throw refuse(contents as Node, 'expected a list of entries, each beginning with "- id:"')
  return contents.items.map((item) => {
    if (isMap(item)) return item
    throw refuse(item as Node, `expected an entry, found ${shownNode(item)}; write "- id: …" and below it "verdict: …"`)
  })
}

function shownNode(node: unknown): string {
  if (isAlias(node)) return `the alias *${cleanText(node.source, 80)}`
  return isScalar(node) ? quoted(String(node.value)) : 'a list'
}

function readEntry(map: YAMLMap, place: string, refuse: Refuse): ExpectedFailure {
  const fields = new Fields(map, refuse)
  const id = fields.required('id')
  fields.required('verdict')
  const verdict = fields.oneOf('verdict', EXPECTABLE)!
  const stage = fields.oneOf('stage', STAGES)
  const side = fields.oneOf('side', SIDES)
  if (verdict !== 'error') fields.refuseGiven(['stage', 'side'], `is for errors, but the verdict is ${verdict}`)
  const error = fields.checked('error', (words) => (words.trim() === '' ? 'error has no words' : null))
  const relL2 = fields.checked('relL2', relL2Problem)
  if (verdict !== 'fail') fields.refuseGiven(['relL2'], `is for failures, but the verdict is ${verdict}`)
  const issue = fields.checked('issue', issueProblem)
  const expires = fields.checked('expires', dayProblem)
  const where = { ...(stage && { stage }), ...(side && { side }) }
  const what = { ...(error && { error }), ...(relL2 && { relL2: Number(relL2) }) }
  return { id, verdict, ...where, ...what, ...(issue && { issue }), ...(expires && { expires }), place }
}

/** The values of one entry, with where they stand. */
class Fields {
  readonly #map: YAMLMap
  readonly #refuse: Refuse
  readonly #values = new Map<Key, { readonly text: string; readonly node: Node }>()

  constructor(map: YAMLMap, refuse: Refuse) {
    this.#map = map
    this.#refuse = refuse
    for (const pair of map.items) {
      const keyNode = pair.key as Node
      const key = readKey(keyNode, refuse)
      const node = (pair.value ?? keyNode) as Node
      this.#values.set(key, { text: readText(key, pair.value as Node | null, node, refuse), node })
    }
  }

  required(key: Key): string {
    const value = this.#values.get(key)
    if (!value) throw this.#refuse(this.#map, `the entry has no ${key}; every entry has an id and a verdict`)
    return value.text
  }

  oneOf<T extends string>(key: Key, known: readonly T[]): T | undefined {
    const value = this.#values.get(key)
    const found = known.find((word) => word === value?.text)
    if (!value || found !== undefined) return found
    const problem = describeUnknown(`${key} ${quoted(value.text)}`, value.text.toLowerCase(), known)
    throw this.#refuse(value.node, problem)
  }

  checked(key: Key, problemOf: (text: string) => string | null): string | undefined {
    const value = this.#values.get(key)
    const problem = value && problemOf(value.text)
    if (problem) throw this.#refuse(value.node, problem)
    return value?.text
  }

  refuseGiven(keys: readonly Key[], why: string): void {
    for (const key of keys) {
      const value = this.#values.get(key)
      if (value) throw this.#refuse(value.node, `${key} ${why}; remove the line`)
    }
  }
}

function readKey(node: Node, refuse: Refuse): Key {
  const word = isScalar(node) ? String(node.value) : ''
  const key = ENTRY_KEYS.find((known) => known === word)
  if (key) return key
  throw refuse(node, describeUnknown(`key ${quoted(word)}`, word, ENTRY_KEYS))
}

/** What is written there, also where YAML would take it for a number. */
function readText(key: Key, value: Node | null, node: Node, refuse: Refuse): string {
  if (value === null || (isScalar(value) && (value.value === null || value.value === ''))) {
    throw refuse(node, `${key} is empty; write a value or remove the line`)
  }
  if (isScalar(value)) return typeof value.value === 'string' ? value.value : (value.source ?? String(value.value))
  const found = isAlias(value) ? `${shownNode(value)}; put it in quotes` : 'a list or a map'
  throw refuse(node, `${key} takes text, found ${found}`)
}

function quoted(text: string): string {
  return JSON.stringify(cleanText(text, 80))
}

function refuseTwice(entries: readonly ExpectedFailure[]): void {
  const places = new Map<string, string>()
  for (const { id, place } of entries) {
    const first = places.get(id)
    if (first !== undefined) {
      throw new UsageError('expected', `${place}: ${quoted(id)} is there already, at ${first}; keep one of them`)
    }
    places.set(id, place)
  }
}
