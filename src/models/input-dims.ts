import { StageError } from '../domain/errors.ts'
import type { ValueSpec } from '../domain/tensor.ts'

/** A size that the model leaves open, and why it was chosen. */
export interface ChosenDim {
  /** The symbolic name, or `input[axis]` where the model gives none. */
  readonly name: string
  readonly size: number
  readonly because: string
}

interface Convention {
  readonly pattern: RegExp
  readonly size: number
  readonly what: string
}

/** What such sizes usually are; the first that matches the dimension's name. */
const CONVENTIONS: readonly Convention[] = [
  { pattern: /batch|^(n|b|bs|bsz)$/i, size: 1, what: 'a batch' },
  { pattern: /^past_|_past(_|$)|cache_len/i, size: 8, what: 'the length of a cache' },
  { pattern: /height|width|^(h|w)$/i, size: 224, what: 'an image side' },
  { pattern: /channel/i, size: 3, what: 'image channels' },
  { pattern: /samples|audio|waveform/i, size: 16_000, what: 'a second of sound' },
  { pattern: /frames?(_|$)|^time(_|$)|^t$/i, size: 100, what: 'a second of frames' },
  { pattern: /seq|len|tokens?|words?/i, size: 16, what: 'a sequence' },
]

const IMAGE_SIDE = 224
const SEQUENCE = 16
/** Models that also take a sample rate listen to frames of 512 samples (voice activity) or take any length. */
const SOUND_FRAME = 512
const SAMPLE_RATE = /^(sr|fs|(sample|sampling)_?rate)$/i

const SOUND: [number, string] = [SOUND_FRAME, 'beside a sample rate, taken for samples of sound']

interface KnownDims {
  /** By the user: symbolic name, or `input[axis]`, to size. */
  readonly given: Readonly<Record<string, number>>
  /** Found in the files of other inputs. */
  readonly measured?: Readonly<Record<string, number>>
  /** The model takes its cacheless branch, so caches are empty. */
  readonly emptyCaches?: boolean
}

interface Binding extends KnownDims {
  /** The model also takes a sample rate. */
  readonly hearsSound: boolean
  readonly chosen: Map<string, ChosenDim>
}

interface BoundShapes {
  readonly shapes: ReadonlyMap<string, readonly number[]>
  /** Every open size of the model, as given or as chosen. */
  readonly dims: readonly ChosenDim[]
  /** Given names that no input of this model has. */
  readonly unused: readonly string[]
}

/** Gives every open size a number: as bound by the user, by the convention for its name, or by its place in the shape. */
export function bindInputShapes(specs: readonly ValueSpec[], known: KnownDims): BoundShapes {
  const hearsSound = specs.some(({ name }) => SAMPLE_RATE.test(name))
  const binding: Binding = { ...known, hearsSound, chosen: new Map() }
  const shapes = new Map<string, readonly number[]>()
  for (const spec of [...specs].sort((a, b) => Number(countsAll(a)) - Number(countsAll(b)))) {
    if (spec.kind !== 'tensor' || !spec.shape) continue
    shapes.set(
      spec.name,
      spec.shape.map((_, axis) => bindDim(spec, axis, binding)),
    )
  }
  const used = usedNames(specs)
  return {
    shapes,
    dims: [...binding.chosen.values()],
    unused: Object.keys(known.given).filter((name) => !used.has(name)),
  }
}

/** Whatever comes first among the inputs, a total follows from its parts. */
function countsAll({ shape }: ValueSpec): boolean {
  return shape?.some((dim) => typeof dim === 'string' && TOTAL.test(dim)) ?? false
}

const TOTAL = /^total_/i

function usedNames(specs: readonly ValueSpec[]): Set<string> {
  const names = specs.flatMap(({ name, shape }) =>
    (shape ?? []).flatMap((dim, axis) => [
      `${name}[${axis}]`,
      ...(typeof dim === 'string' ? [dim, ...termsOf(dim)] : []),
    ]),
  )
  return new Set(names)
}

function bindDim(spec: ValueSpec, axis: number, binding: Binding): number {
  const dim = spec.shape![axis]!
  const place = `${spec.name}[${axis}]`
  if (Object.hasOwn(binding.given, place)) return choose(binding, place, binding.given[place]!, 'given')
  if (typeof dim === 'number' && dim >= 0) return dim
  if (typeof dim === 'string' && dim !== '') return bindName(dim, spec, axis, binding)
  return choose(binding, place, ...byPlace(spec, axis, binding))
}

function bindName(name: string, spec: ValueSpec, axis: number, binding: Binding): number {
  const known = binding.chosen.get(name)
  if (known) return known.size
  if (Object.hasOwn(binding.given, name)) return choose(binding, name, binding.given[name]!, 'given')
  if (binding.measured && Object.hasOwn(binding.measured, name)) {
    return choose(binding, name, binding.measured[name]!, 'as in its file')
  }
  const terms = termsOf(name)
  if (terms.length > 0) return choose(binding, name, sumOf(name, spec, axis, binding), 'the sum of its terms')
  return choose(binding, name, ...defaultOf(name, spec, axis, binding))
}

function defaultOf(name: string, spec: ValueSpec, axis: number, binding: Binding): [number, string] {
  const convention = CONVENTIONS.find(({ pattern }) => pattern.test(name))
  if (!convention) return byPlace(spec, axis, binding)
  if (convention.what === 'the length of a cache' && binding.emptyCaches) return [0, 'an empty cache']
  if (TOTAL.test(name)) return [totalOf(binding, convention.size), 'cache and new tokens together']
  if (convention.what === 'a sequence' && binding.hearsSound) return SOUND
  return [convention.size, `by its name, ${convention.what}`]
}

/** total_sequence_length counts the cache too. */
function totalOf({ chosen }: Binding, fallback: number): number {
  const sizeOf = (pattern: RegExp) => [...chosen.values()].find(({ name }) => pattern.test(name))?.size
  const past = sizeOf(/^past_/i)
  const fresh = sizeOf(/^(seq|decoder_seq)/i)
  return fresh === undefined ? fallback : fresh + (past ?? 0)
}

/** Names in `past_sequence_length + 1`; none where it is a plain name. */
function termsOf(text: string): string[] {
  if (!/^\s*[\w.]+(\s*\+\s*[\w.]+)+\s*$/.test(text)) return []
  return text
    .split('+')
    .map((term) => term.trim())
    .filter((term) => !/^\d+$/.test(term))
}

function sumOf(text: string, spec: ValueSpec, axis: number, binding: Binding): number {
  const sizes = text.split('+').map((part) => {
    const term = part.trim()
    return /^\d+$/.test(term) ? Number(term) : bindName(term, spec, axis, binding)
  })
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The first open axis is the batch, unless a fixed 1 stands before it; then image sides or sequences. */
function byPlace({ shape }: ValueSpec, axis: number, { hearsSound }: Binding): [number, string] {
  const before = shape!.slice(0, axis)
  const isOpen = (dim: number | string | null) => typeof dim !== 'number' || dim < 0
  if (!before.some((dim) => isOpen(dim) || dim === 1)) return [1, 'the first open axis, taken for the batch']
  if (shape!.length === 4) return [IMAGE_SIDE, 'an axis of four, taken for an image side']
  return hearsSound ? SOUND : [SEQUENCE, 'a later open axis, taken for a sequence']
}

function choose(binding: Binding, name: string, size: number, because: string): number {
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new StageError('inputs', `dimension "${name}" is given as ${size}; a size is a whole number, 0 or more`)
  }
  binding.chosen.set(name, { name, size, because })
  return size
}
