import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml'
import { UsageError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import { describeYamlProblem, parseYamlDocument } from '../../../files/formats/yaml-document.ts'

/** YAML in which a value is the text that stands there: `1e-3`, `010` and `yes` stay what they are. */
export type YamlTree = YamlMap | YamlList | YamlText

export interface YamlMap {
  readonly kind: 'map'
  readonly line: number
  readonly entries: ReadonlyMap<string, YamlTree>
}

interface YamlList {
  readonly kind: 'list'
  readonly line: number
  readonly items: readonly YamlTree[]
}

interface YamlText {
  readonly kind: 'text'
  readonly line: number
  /** Null for `null`, `~` and nothing at all. */
  readonly text: string | null
}

/** Aliases are followed, so a small file may be a large tree. */
const MAX_NODES = 20_000
const MAX_DEPTH = 32
const MAX_ALIASES = 1000

export function readYamlTree(text: string, shown: string): YamlTree {
  refuseManyAliases(text, shown)
  const lines = new LineCounter()
  const document = parseYamlDocument(text, lines)
  if (!document) throw new UsageError('convergence', `${shown}: found values nested deeper than ${MAX_DEPTH}`)
  const problem = describeYamlProblem(document, text, lines)
  if (problem !== null) throw new UsageError('convergence', `${shown}:${problem}`)
  return new TreeBuilder(aliasedNodes(document), lines, shown).build(document.contents as Node | null, 0)
}

/** What the lexer gives before the text of a scalar, and other signs that are not in the file. */
const SCALAR = '\u001f'
const SIGNS = new Set(['\u0002', '\u0018', SCALAR])

/** Checked before the tree is built, which can take seconds. */
function refuseManyAliases(text: string, shown: string): void {
  let [count, at, before] = [0, 0, '']
  for (const token of new Lexer().lex(text)) {
    if (token.startsWith('*') && before !== SCALAR && ++count > MAX_ALIASES) {
      const line = text.slice(0, at).split('\n').length
      throw refusal(shown, line, `more than ${MAX_ALIASES} aliases; write out what they stand for`)
    }
    if (!SIGNS.has(token)) at += token.length
    before = token
  }
}

/** What each alias stands for: the last node before it that has its name. */
function aliasedNodes(document: Document): Map<Alias, Node> {
  const anchors = new Map<string, Node>()
  const aliased = new Map<Alias, Node>()
  visit(document, {
    Alias(_key, alias) {
      const node = anchors.get(alias.source)
      if (node) aliased.set(alias, node)
    },
    Node(_key, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
  })
  return aliased
}

function refusal(shown: string, line: number, found: string): UsageError {
  return new UsageError('convergence', `${shown}:${line}: found ${found}`)
}

class TreeBuilder {
  readonly #aliased: ReadonlyMap<Alias, Node>
  readonly #lines: LineCounter
  readonly #shown: string
  #nodes = 0

  constructor(aliased: ReadonlyMap<Alias, Node>, lines: LineCounter, shown: string) {
    this.#aliased = aliased
    this.#lines = lines
    this.#shown = shown
  }

  build(node: Node | null, depth: number): YamlTree {
    const line = node?.range ? this.#lines.linePos(node.range[0]).line : 1
    if (++this.#nodes > MAX_NODES)
      throw this.#refuse(line, `more than ${MAX_NODES} values; write fewer tests or aliases`)
    if (depth > MAX_DEPTH) throw this.#refuse(line, `values nested deeper than ${MAX_DEPTH}`)
    if (isAlias(node)) return this.build(this.#resolved(this.#aliased.get(node), line), depth + 1)
    if (isMap(node)) return { kind: 'map', line, entries: this.#entries(node, line, depth) }
    if (isSeq(node)) {
      return { kind: 'list', line, items: node.items.map((item) => this.build(item as Node | null, depth + 1)) }
    }
    return { kind: 'text', line, text: isScalar(node) ? textOf(node) : null }
  }

  #resolved(node: Node | undefined, line: number): Node {
    if (node) return node
    throw this.#refuse(line, 'an alias without an anchor before it')
  }

  /** `<<: *name` adds what the map does not say itself, as in YAML 1.1. */
  #entries(map: YAMLMap, line: number, depth: number): Map<string, YamlTree> {
    const entries = new Map<string, YamlTree>()
    const merged: YamlTree[] = []
    for (const pair of map.items) {
      const key = isPair(pair) && isScalar(pair.key) ? textOf(pair.key) : null
      if (key === null) throw this.#refuse(line, 'a key that is not text')
      const value = this.build(pair.value as Node | null, depth + 1)
      if (key === '<<') merged.push(...(value.kind === 'list' ? value.items : [value]))
      else if (entries.has(key)) throw this.#refuse(value.line, `the key ${quoted(key)} twice; keep one of them`)
      else entries.set(key, value)
    }
    for (const tree of merged) this.#merge(entries, tree)
    return entries
  }

  #merge(entries: Map<string, YamlTree>, tree: YamlTree): void {
    if (tree.kind !== 'map') throw this.#refuse(tree.line, 'a "<<" that is not a map')
    for (const [key, value] of tree.entries) if (!entries.has(key)) entries.set(key, value)
  }

  #refuse(line: number, found: string): UsageError {
    return refusal(this.#shown, line, found)
  }
}

function textOf(scalar: Scalar): string | null {
  if (scalar.type !== 'PLAIN') return String(scalar.value)
  const source = scalar.source ?? ''
  return /^(?:|~|null|Null|NULL)$/.test(source) ? null : source
}

export function quoted(text: string): string {
  return JSON.stringify(cleanText(text, 80))
}
