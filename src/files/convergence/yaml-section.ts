import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from 'yaml'
import { UsageError } from '../../domain/errors.ts'
import { nearest } from '../../domain/target.ts'
import { cleanText } from '../../domain/text.ts'

/** `<<: *base`, as YAML 1.1 has it. */
const MERGE = '<<'

/** A map of a configuration, read key by key; what is wrong is said with its whole path. */
export class YamlSection {
  readonly #document: Document
  readonly #place: string
  readonly #entries: ReadonlyMap<string, Node | null>

  constructor(document: Document, node: Node | null | undefined, place: string) {
    this.#document = document
    this.#place = place
    const map = this.#resolved(node)
    if (!isMap(map)) throw this.problem('', `should be a map of keys, found ${describe(map)}`)
    this.#entries = this.#entriesOf(map)
  }

  get keys(): string[] {
    return [...this.#entries.keys()]
  }

  has(key: string): boolean {
    const node = this.#entries.get(key)
    return node !== undefined && node !== null && !(isScalar(node) && node.value === null)
  }

  /** It is written there, whatever its value. */
  mentions(key: string): boolean {
    return this.#entries.has(key)
  }

  section(key: string, what: string): YamlSection {
    return new YamlSection(this.#document, this.#needed(key, what), this.#at(key))
  }

  optional(key: string): YamlSection | null {
    return this.has(key) ? new YamlSection(this.#document, this.#entries.get(key), this.#at(key)) : null
  }

  /** As it is written: `1e-3` stays `1e-3`, and quoted texts are what the quotes hold. */
  text(key: string, what: string): string {
    const node = this.#needed(key, what)
    if (!isScalar(node)) throw this.problem(key, `should be ${what}, found ${describe(node)}`)
    return scalarText(node)
  }

  texts(key: string, what: string): string[] {
    const node = this.#needed(key, what)
    if (!isSeq(node) || node.items.length === 0) throw this.problem(key, `should be ${what}, found ${describe(node)}`)
    return node.items.map((item) => {
      const one = this.#resolved(item as Node)
      if (!isScalar(one)) throw this.problem(key, `should be ${what}, found ${describe(one)} among them`)
      return scalarText(one)
    })
  }

  number(key: string, what: string): number {
    const text = this.text(key, what)
    const number = /^[+-]?(\d[\d_]*\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)
      ? Number(text.replaceAll('_', ''))
      : Number.NaN
    if (!Number.isFinite(number)) throw this.problem(key, `should be ${what}, found "${cleanText(text, 60)}"`)
    return number
  }

  whole(key: string, what: string, least: number): number {
    const number = this.number(key, what)
    if (Number.isSafeInteger(number) && number >= least) return number
    throw this.problem(key, `should be ${what}, found ${number}`)
  }

  choice<T extends string>(key: string, known: readonly T[], otherwise?: T): T {
    if (otherwise !== undefined && !this.has(key)) return otherwise
    const text = this.text(key, `one of ${known.join(', ')}`)
    const found = known.find((one) => one === text)
    if (found !== undefined) return found
    throw this.problem(key, `should be one of ${known.join(', ')}, found "${cleanText(text, 60)}"${hint(text, known)}`)
  }

  /** Keys that nothing reads would be taken for read. */
  refuseOthers(known: readonly string[]): void {
    const other = this.keys.find((key) => !known.includes(key))
    if (other === undefined) return
    const near = hint(other, known)
    throw this.problem(other, `is not known here${near || `; known: ${known.join(', ')}`}`)
  }

  problem(key: string, text: string): UsageError {
    const place = cleanText(key === '' ? this.#place : this.#at(key), 300)
    return new UsageError('converge', `${place} ${text}`)
  }

  /** Plain data, for a digest. */
  get content(): unknown {
    return Object.fromEntries([...this.#entries].map(([key, node]) => [key, this.#plain(node, 0)]))
  }

  #plain(node: Node | null | undefined, depth: number): unknown {
    const one = this.#resolved(node)
    if (depth > 20) throw this.problem('', 'is nested too deeply')
    if (isSeq(one)) return one.items.map((item) => this.#plain(item as Node, depth + 1))
    if (isMap(one))
      return Object.fromEntries([...this.#entriesOf(one)].map(([key, value]) => [key, this.#plain(value, depth + 1)]))
    return isScalar(one) && one.value !== null ? scalarText(one) : null
  }

  #needed(key: string, what: string): Node {
    const node = this.#resolved(this.#entries.get(key))
    if (node && this.has(key)) return node
    throw this.problem(key, `is missing: it is ${what}`)
  }

  #resolved(node: Node | null | undefined): Node | null {
    return (isAlias(node) ? node.resolve(this.#document) : node) ?? null
  }

  #entriesOf(map: unknown, depth = 0): Map<string, Node | null> {
    if (!isMap(map) || depth > 20) throw this.problem('', 'merges something that is no map')
    const entries = new Map<string, Node | null>()
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? scalarText(key) : ''
      if (name !== MERGE) entries.set(name, value as Node | null)
      else
        for (const [merged, node] of this.#merged(value as Node, depth))
          if (!hasKey(map, merged)) entries.set(merged, node)
    }
    return entries
  }

  #merged(value: Node, depth: number): [string, Node | null][] {
    const node = this.#resolved(value)
    const maps = isSeq(node) ? node.items.map((item) => this.#resolved(item as Node)) : [node]
    // The first that has a key gives it.
    return maps.reverse().flatMap((map) => [...this.#entriesOf(map, depth + 1)])
  }

  #at(key: string): string {
    return this.#place.endsWith(':') ? `${this.#place} ${key}` : `${this.#place}.${key}`
  }
}

function hasKey(map: { readonly items: readonly { readonly key: unknown }[] }, name: string): boolean {
  return map.items.some(({ key }) => isScalar(key) && scalarText(key) === name)
}

function scalarText(node: { readonly value: unknown; readonly source?: string }): string {
  return node.source ?? String(node.value)
}

function describe(node: unknown): string {
  if (isSeq(node)) return node.items.length === 0 ? 'an empty list' : 'a list'
  if (isMap(node)) return 'a map'
  return isScalar(node) && node.value !== null ? `"${cleanText(scalarText(node), 60)}"` : 'nothing'
}

function hint(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near ? `; did you mean "${near}"?` : ''
}
