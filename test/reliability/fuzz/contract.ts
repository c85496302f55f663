/** The part of an input that is changed by its meaning, and how it is put back so that sizes and sums fit. */
export interface Inner {
  readonly kind: 'json' | 'text' | 'bytes'
  readonly inside: Uint8Array
  close(inside: Uint8Array): Uint8Array
}

/** A reader that is given changed inputs. */
export interface Parser {
  readonly kind: 'json' | 'text' | 'bytes'
  /** Inputs that it takes. */
  readonly seeds: readonly Uint8Array[]
  readonly open?: (seed: Uint8Array) => Inner
  /** It reads files or YAML, which takes long, so it gets a quarter as many inputs. */
  readonly isSlow?: true
  /** `folder` is one of its own. Throws what a reader documents, or nothing. */
  read(input: Uint8Array, folder: string): unknown
}

export type Parsers = Readonly<Record<string, Parser>>

/** Some inputs of one parser, by number. */
export interface Task {
  readonly parser: string
  readonly seed: number
  readonly from: number
  readonly to: number
}

export interface Finding {
  readonly parser: string
  readonly seed: number
  readonly number: number
  readonly kind: 'crash' | 'hang' | 'memory'
  readonly text: string
}

/** What a thread tells: what it found, and that its task is done. */
export type Told =
  | { readonly type: 'crash'; readonly number: number; readonly text: string }
  | { readonly type: 'done' }
