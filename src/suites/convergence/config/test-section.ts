import { UsageError } from '../../../domain/errors.ts'
import { describeUnknown } from '../../../domain/suggest.ts'
import { cleanText } from '../../../domain/text.ts'
import { quoted, type YamlMap, type YamlTree } from './yaml-tree.ts'

/** What a number of a configuration may be. */
interface NumberRange {
  readonly least: number
  readonly most?: number
  readonly isWhole?: boolean
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** One map of a configuration. Errors name the file, the line and the full path of the key. */
export class TestSection {
  readonly path: string
  readonly #file: string
  readonly #map: YamlMap

  constructor(map: YamlMap, path: string, file: string) {
    this.#map = map
    this.path = path
    this.#file = file
  }

  get keys(): string[] {
    return [...this.#map.entries.keys()]
  }

  has(key: string): boolean {
    return this.#map.entries.has(key)
  }

  allow(known: readonly string[], hint = ''): this {
    for (const key of this.keys) {
      if (known.includes(key)) continue
      const text = describeUnknown(`key ${quoted(key)} in ${this.path}`, key, known)
      throw this.#refuse(this.#map.entries.get(key)!, `${text}${hint}`)
    }
    return this
  }

  /** `what` says what belongs there. */
  section(key: string, what: string): TestSection {
    const tree = this.#required(key, what)
    if (tree.kind === 'map') return new TestSection(tree, this.pathOf(key), this.#file)
    throw this.refuse(key, `is ${shownTree(tree)}, expected a map: ${what}`)
  }

  optionalSection(key: string, what: string): TestSection | null {
    return this.isGiven(key) ? this.section(key, what) : null
  }

  text(key: string, what: string): string {
    const tree = this.#required(key, what)
    if (tree.kind === 'text' && tree.text !== null && tree.text !== '') return this.#clean(key, tree.text)
    throw this.refuse(key, `is ${shownTree(tree)}, expected ${what}`)
  }

  /** Null for a value that is `null`, `~`, empty or left out. */
  optionalText(key: string, what: string): string | null {
    const tree = this.#map.entries.get(key)
    if (tree === undefined || (tree.kind === 'text' && tree.text === null)) return null
    if (tree.kind === 'text') return this.#clean(key, tree.text ?? '')
    throw this.refuse(key, `is ${shownTree(tree)}, expected ${what}`)
  }

  texts(key: string, what: string): string[] {
    const tree = this.#required(key, what)
    if (tree.kind !== 'list') throw this.refuse(key, `is ${shownTree(tree)}, expected ${what}`)
    return tree.items.map((item, i) => {
      if (item.kind === 'text' && item.text !== null) return this.#clean(`${key}[${i}]`, item.text)
      throw this.#refuse(item, `${this.pathOf(key)}[${i}] is ${shownTree(item)}, expected text`)
    })
  }

  oneOf<T extends string>(key: string, known: readonly T[], what: string): T {
    const text = this.text(key, what)
    const found = known.find((word) => word === text)
    if (found !== undefined) return found
    const problem = describeUnknown(`${this.pathOf(key)} ${quoted(text)}`, text, known)
    throw this.#refuse(this.#map.entries.get(key)!, problem)
  }

  number(key: string, what: string, range: NumberRange): number {
    const text = this.text(key, what)
    const value = NUMBER.test(text) ? Number(text) : Number.NaN
    const isInside = value >= range.least && value <= (range.most ?? Number.MAX_SAFE_INTEGER)
    if (isInside && (!range.isWhole || Number.isSafeInteger(value))) return value
    throw this.refuse(key, `is ${quoted(text)}, expected ${what}`)
  }

  isGiven(key: string): boolean {
    const tree = this.#map.entries.get(key)
    return tree !== undefined && !(tree.kind === 'text' && tree.text === null)
  }

  refuse(key: string, problem: string): UsageError {
    return this.#refuse(this.#map.entries.get(key) ?? this.#map, `${this.pathOf(key)} ${problem}`)
  }

  pathOf(key: string): string {
    return `${this.path}.${cleanText(key, 80)}`
  }

  #required(key: string, what: string): YamlTree {
    const tree = this.#map.entries.get(key)
    if (tree && !(tree.kind === 'text' && tree.text === null)) return tree
    throw this.refuse(key, `${tree ? 'is empty' : 'is missing'}; expected ${what}`)
  }

  #clean(key: string, text: string): string {
    if (!text.includes('\0')) return text
    throw this.refuse(key, 'has a NUL character, which cannot be passed to a program')
  }

  #refuse(tree: YamlTree, message: string): UsageError {
    return new UsageError('convergence', `${this.#file}:${tree.line}: ${message}`)
  }
}

function shownTree(tree: YamlTree): string {
  if (tree.kind !== 'text') return `a ${tree.kind}`
  return tree.text === null ? 'empty' : quoted(tree.text)
}
