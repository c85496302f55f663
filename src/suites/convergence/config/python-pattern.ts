import { NO_FLAGS, type PatternFlags, withFlags } from './pattern-flags.ts'
import { PatternReader } from './pattern-reader.ts'
import { escapedCharacter, escapedSet, literal, setMembers } from './python-escapes.ts'
import { pythonSet } from './python-set.ts'

/** A regular expression of JavaScript that finds what Python's `re.search` finds on a line. */
interface TranslatedPattern {
  readonly source: string
  readonly flags: string
  readonly groups: number
}

/** A piece of a pattern: `sure` are the groups in it that take part in every match of it. */
interface Piece {
  readonly source: string
  readonly groups: readonly number[]
  readonly sure: readonly number[]
  readonly mayBeEmpty: boolean
  /** It takes as little as it can somewhere. */
  readonly isLazy: boolean
  /** A place between characters, which Python does not let be repeated. */
  readonly isPlace?: boolean
}

const MAX_DEPTH = 50
const CHARACTER: Piece = { source: '', groups: [], sure: [], mayBeEmpty: false, isLazy: false }

/** Throws a FormatError that names what is not supported, or what Python itself would refuse. */
export function pythonPattern(text: string): TranslatedPattern {
  const reader = new PatternReader(text)
  const translation = new Translation(reader)
  const { source, flags } = translation.whole()
  try {
    new RegExp(source, flags).exec('')
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw reader.error(`cannot be translated: ${message.slice(-200)}`)
  }
  return { source, flags, groups: translation.groupCount }
}

class Translation {
  readonly #reader: PatternReader
  readonly #names = new Map<string, number>()
  readonly #closed = new Set<number>()
  /** Groups that surely took part before this place. */
  #sure = new Set<number>()
  #depth = 0
  groupCount = 0

  constructor(reader: PatternReader) {
    this.#reader = reader
  }

  whole(): { source: string; flags: string } {
    const flags = this.#globalFlags()
    const { source } = this.#choice(flags)
    if (this.#reader.peek() !== undefined) throw this.#reader.error('has an extra ")"')
    return { source, flags: flags.ignoresCase ? 'iu' : 'u' }
  }

  #globalFlags(): PatternFlags {
    let flags = NO_FLAGS
    for (let start = this.#reader.at; this.#reader.skip('(?'); start = this.#reader.at) {
      const letters = this.#reader.take(/^[A-Za-z]$/)
      if (letters === '' || !this.#reader.skip(')')) {
        this.#reader.goTo(start)
        break
      }
      flags = withFlags(flags, letters, true, this.#reader)
    }
    return flags
  }

  #choice(flags: PatternFlags): Piece {
    if (++this.#depth > MAX_DEPTH) throw this.#reader.error(`is nested deeper than ${MAX_DEPTH}`)
    const before = this.#sure
    const branches = [this.#sequence(flags)]
    while (this.#reader.skip('|')) {
      this.#sure = new Set(before)
      branches.push(this.#sequence(flags))
    }
    this.#depth--
    const sure = branches.length === 1 ? branches[0]!.sure : []
    this.#sure = new Set([...before, ...sure])
    return {
      source: branches.map((branch) => branch.source).join('|'),
      groups: branches.flatMap((branch) => branch.groups),
      sure,
      mayBeEmpty: branches.some((branch) => branch.mayBeEmpty),
      isLazy: branches.some((branch) => branch.isLazy),
    }
  }

  #sequence(flags: PatternFlags): Piece {
    const pieces: Piece[] = []
    for (
      let next = this.#reader.peek();
      next !== undefined && next !== '|' && next !== ')';
      next = this.#reader.peek()
    ) {
      if (this.#skipIgnored(flags)) continue
      pieces.push(this.#repeated(this.#atom(flags), flags))
    }
    return {
      source: pieces.map((piece) => piece.source).join(''),
      groups: pieces.flatMap((piece) => piece.groups),
      sure: pieces.flatMap((piece) => piece.sure),
      mayBeEmpty: pieces.every((piece) => piece.mayBeEmpty),
      isLazy: pieces.some((piece) => piece.isLazy),
    }
  }

  /** Comments, and in a verbose pattern blanks: a repeat after them is of what stands before. */
  #skipIgnored(flags: PatternFlags): boolean {
    const start = this.#reader.at
    if (this.#reader.skip('(?#')) this.#reader.until(')', 'a comment')
    if (flags.isVerbose) this.#skipVerbose()
    return this.#reader.at !== start
  }

  #skipVerbose(): void {
    this.#reader.take(/^[ \t\n\r\f\v]$/)
    if (this.#reader.skip('#')) this.#reader.take(/^[^\n]$/)
  }

  #atom(flags: PatternFlags): Piece {
    const character = this.#reader.next('the pattern')
    if (character === '(') return this.#group(flags)
    if (character === '[') return { ...CHARACTER, source: pythonSet(this.#reader, flags.isAscii) }
    if (character === '\\') return this.#escape(flags)
    if (character === '.') return { ...CHARACTER, source: flags.dotMatchesAll ? '[^]' : '[^\\n]' }
    if (character === '^') return place(flags.isMultiline ? '(?<![^\\n])' : '^')
    // Lines have no end of line, before which Python's $ also matches.
    if (character === '$') return place(flags.isMultiline ? '(?![^\\n])' : '$')
    if (/^[*+?]$/.test(character)) throw this.#reader.error(`has "${character}" with nothing before it to repeat`)
    return { ...CHARACTER, source: literal(character.codePointAt(0)!) }
  }

  #repeated(piece: Piece, flags: PatternFlags): Piece {
    while (this.#skipIgnored(flags));
    const repeat = this.#repeat()
    if (repeat === null) return piece
    if (piece.isPlace) throw this.#reader.error('repeats something that has no length')
    if (this.#reader.skip('+')) {
      throw this.#reader.error('has a possessive repeat such as "*+", which is not supported; leave out the "+"')
    }
    const lazy = this.#reader.skip('?') ? '?' : ''
    if (this.#repeat() !== null) throw this.#reader.error('repeats a repeat; put the inner one in (?:…)')
    return this.#withRepeat(piece, repeat, lazy)
  }

  #withRepeat(piece: Piece, { least, most }: Repeat, lazy: string): Piece {
    if (most > 1) this.#refuseRounds(piece)
    if (least === 0) for (const group of piece.sure) this.#sure.delete(group)
    return {
      ...piece,
      source: repeatSource(piece, { least, most }, lazy),
      sure: least === 0 ? [] : piece.sure,
      mayBeEmpty: least === 0 || piece.mayBeEmpty,
      isLazy: piece.isLazy || lazy !== '',
    }
  }

  /** Python keeps what a group matched in an earlier round and goes on after an empty one; JavaScript does neither. */
  #refuseRounds(piece: Piece): void {
    if (piece.groups.some((group) => !piece.sure.includes(group))) {
      throw this.#reader.error(
        'repeats groups that one repetition may skip, which is not supported; write them one by one',
      )
    }
    if (piece.mayBeEmpty && (piece.groups.length > 0 || piece.isLazy)) {
      throw this.#reader.error(
        'repeats something that may be empty, which is not supported; let it match something every time',
      )
    }
  }

  /** Null, and nothing read, where no repeat follows: a brace may be itself. */
  #repeat(): Repeat | null {
    if (this.#reader.skip('*')) return { least: 0, most: Number.POSITIVE_INFINITY }
    if (this.#reader.skip('+')) return { least: 1, most: Number.POSITIVE_INFINITY }
    if (this.#reader.skip('?')) return { least: 0, most: 1 }
    return this.#braces()
  }

  #braces(): Repeat | null {
    const start = this.#reader.at
    if (!this.#reader.skip('{')) return null
    const least = this.#reader.take(/^\d$/)
    const isRange = this.#reader.skip(',')
    const most = isRange ? this.#reader.take(/^\d$/) : least
    if ((least === '' && !isRange) || !this.#reader.skip('}')) {
      this.#reader.goTo(start)
      return null
    }
    const repeat = { least: Number(least), most: most === '' ? Number.POSITIVE_INFINITY : Number(most) }
    if (repeat.least > repeat.most) throw this.#reader.error('has a repeat whose minimum is larger than its maximum')
    return repeat
  }

  #group(flags: PatternFlags): Piece {
    if (!this.#reader.skip('?')) return this.#capture(flags, null)
    if (this.#reader.skip('P<')) return this.#capture(flags, this.#reader.until('>', 'the name of a group'))
    if (this.#reader.skip('P=')) return this.#named(this.#reader.until(')', 'a reference'))
    if (this.#reader.skip(':')) return this.#plain(flags, '(?:')
    for (const look of ['=', '!', '<=', '<!']) if (this.#reader.skip(look)) return this.#look(flags, look)
    if (this.#reader.skip('<')) return this.#capture(flags, this.#reader.until('>', 'the name of a group'))
    if (this.#reader.skip('>'))
      throw this.#reader.error('has an atomic group (?>…), which is not supported; write (?:…)')
    if (this.#reader.skip('('))
      throw this.#reader.error('has a condition (?(…)…), which is not supported; write both cases with |')
    return this.#scopedFlags(flags)
  }

  #scopedFlags(flags: PatternFlags): Piece {
    const on = this.#reader.take(/^[A-Za-z]$/)
    const off = this.#reader.skip('-') ? this.#reader.take(/^[A-Za-z]$/) : ''
    if (off === '' && on !== '' && this.#reader.skip(')')) {
      throw this.#reader.error(`has the flags (?${on}) after its start; flags for the whole pattern come first`)
    }
    if ((on === '' && off === '') || !this.#reader.skip(':')) throw this.#reader.error('has a group of an unknown kind')
    const changed = withFlags(withFlags(flags, on, true, this.#reader), off, false, this.#reader)
    if (changed.ignoresCase !== flags.ignoresCase) {
      throw this.#reader.error(
        'changes (?i) in the middle, which is not supported; begin the pattern with (?i), or write [Aa]',
      )
    }
    return this.#plain(changed, '(?:')
  }

  #plain(flags: PatternFlags, open: string): Piece {
    const inner = this.#choice(flags)
    this.#close()
    return { ...inner, source: `${open}${inner.source})` }
  }

  #look(flags: PatternFlags, kind: string): Piece {
    const inner = this.#plain(flags, `(?${kind}`)
    const isNegative = kind.endsWith('!')
    if (isNegative) for (const group of inner.sure) this.#sure.delete(group)
    return { ...inner, source: `(?:${inner.source})`, sure: isNegative ? [] : inner.sure, mayBeEmpty: true }
  }

  #capture(flags: PatternFlags, name: string | null): Piece {
    const group = ++this.groupCount
    if (name !== null) this.#nameGroup(name, group)
    const inner = this.#plain(flags, '(')
    this.#closed.add(group)
    this.#sure.add(group)
    return { ...inner, groups: [group, ...inner.groups], sure: [group, ...inner.sure] }
  }

  #nameGroup(name: string, group: number): void {
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) throw this.#reader.error('has a group whose name is not a word')
    if (this.#names.has(name)) throw this.#reader.error(`names two groups "${name}"`)
    this.#names.set(name, group)
  }

  #named(name: string): Piece {
    const group = this.#names.get(name)
    if (group === undefined) throw this.#reader.error(`refers to a group "${name}" that does not exist`)
    return this.#reference(group)
  }

  #reference(group: number): Piece {
    if (!this.#closed.has(group)) throw this.#reader.error(`refers to group ${group} before that group ends`)
    if (!this.#sure.has(group)) {
      throw this.#reader.error(`refers to group ${group}, which may not have matched; that is not supported`)
    }
    return { ...CHARACTER, source: `(?:\\${group})`, mayBeEmpty: true }
  }

  #close(): void {
    if (!this.#reader.skip(')')) throw this.#reader.error('has a "(" without a ")"')
  }

  #escape(flags: PatternFlags): Piece {
    const letter = this.#reader.next('an escape')
    const set = escapedSet(letter, flags.isAscii)
    if (set) return { ...CHARACTER, source: `[${set.isComplement ? '^' : ''}${set.members}]` }
    if (letter === 'A') return place('^')
    if (letter === 'Z' || letter === 'z') return place('$')
    if (letter === 'b' || letter === 'B') return place(wordEdge(letter, setMembers('w', flags.isAscii)))
    if (/^[1-9]$/.test(letter) && !this.#isOctal()) {
      return this.#reference(Number(letter + this.#reader.take(/^\d$/, 1)))
    }
    return { ...CHARACTER, source: literal(escapedCharacter(letter, this.#reader)) }
  }

  /** Three octal digits are a character, of which the first is read; fewer are a group. */
  #isOctal(): boolean {
    const digits = [this.#reader.peek(-1), this.#reader.peek(), this.#reader.peek(1)]
    return digits.every((digit) => digit !== undefined && /^[0-7]$/.test(digit))
  }
}

interface Repeat {
  readonly least: number
  readonly most: number
}

function repeatSource({ source, mayBeEmpty }: Piece, { least, most }: Repeat, lazy: string): string {
  // JavaScript takes an empty round for none, and its groups for left out.
  if (most === 1 && least === 0 && mayBeEmpty) return lazy === '' ? `(?:${source}|)` : `(?:|${source})`
  return `${source}${countSource(least, most)}${lazy}`
}

function countSource(least: number, most: number): string {
  if (most === Number.POSITIVE_INFINITY) return least === 0 ? '*' : least === 1 ? '+' : `{${least},}`
  if (least === 0 && most === 1) return '?'
  return least === most ? `{${least}}` : `{${least},${most}}`
}

function place(source: string): Piece {
  return { ...CHARACTER, source, isPlace: true, mayBeEmpty: true }
}

function wordEdge(letter: string, word: string): string {
  const [inside, outside] = letter === 'b' ? ['!', '='] : ['=', '!']
  return `(?:(?<=[${word}])(?${inside}[${word}])|(?<![${word}])(?${outside}[${word}]))`
}
