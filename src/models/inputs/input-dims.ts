import { StageError } from '../../domain/errors.ts'
import type { ValueSpec } from '../../domain/tensor.ts'
import type { AskedShape, AskedSize } from '../../onnx/inputs/asked-shapes.ts'

/** A size that the model leaves open, and why it was chosen. */
export interface ChosenDim {
  /** The symbolic name, or `input[axis]` where the model gives none. */
  readonly name: string
  readonly size: number
  readonly because: string
  /** By convention only: another size would do as well. */
  readonly free: boolean
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

const SOUND: Choice = [SOUND_FRAME, 'the model also takes a sample rate, so assumed to be samples of sound']
const CHANNELS: Choice = [3, 'the second of four open axes, assumed to be image channels']
const SOUND_INPUT = /^(wav|pcm|audio|speech|sound|waveform)s?$|(^|_)(wav|pcm|audio|waveform)s?(_|$)/i
const SECOND: Choice = [16_000, 'by the name of its input, a second of sound']

/** Letters are a batch only where nothing open comes before them: (batch, N) is something else. */
const LETTER = /^(n|b|bs|bsz)$/i
export const FIRST = 'the first open axis, assumed to be the batch'
/** Why a size is what it is: the one that a convention chose was refused. */
export const FOUND = 'found by trying'

type Choice = readonly [size: number, because: string]

interface KnownDims {
  /** By the user: symbolic name, or `input[axis]`, to size. */
  readonly given: Readonly<Record<string, number>>
  /** By trying; named in the same way. */
  readonly found?: Readonly<Record<string, number>>
  /** By the operators that inputs reach. */
  readonly asked?: ReadonlyMap<string, AskedShape>
  /** Found in the files of other inputs. */
  readonly measured?: Readonly<Record<string, number>>
  /** The model takes its cacheless branch, so caches are empty. */
  readonly emptyCaches?: boolean
}

interface Binding extends Omit<KnownDims, 'asked'> {
  /** By symbolic name, or `input[axis]`. */
  readonly asked: ReadonlyMap<string, AskedSize>
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
  const binding: Binding = { ...known, asked: askedSizes(specs, known.asked), hearsSound, chosen: new Map() }
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

/** The sizes that operators ask for, by the names that the model has for them. */
function askedSizes(specs: readonly ValueSpec[], asked: KnownDims['asked']): Map<string, AskedSize> {
  const named = new Map<string, AskedSize>()
  for (const { name, shape } of specs) {
    for (const [axis, size] of asked?.get(name)?.sizes ?? []) {
      const at = axis < 0 ? (shape?.length ?? 0) + axis : axis
      const dim = shape?.[at]
      if (shape && at in shape && typeof dim !== 'number') named.set(dim || placeName(name, at), size)
    }
  }
  return named
}

export function placeName(input: string, axis: number): string {
  return `${input}[${axis}]`
}

/** Whatever comes first among the inputs, a total follows from its parts. */
function countsAll({ shape }: ValueSpec): boolean {
  return shape?.some((dim) => typeof dim === 'string' && TOTAL.test(dim)) ?? false
}

const TOTAL = /^total_/i

function usedNames(specs: readonly ValueSpec[]): Set<string> {
  const names = specs.flatMap(({ name, shape }) =>
    (shape ?? []).flatMap((dim, axis) => [
      placeName(name, axis),
      ...(typeof dim === 'string' ? [dim, ...termsOf(dim)] : []),
    ]),
  )
  return new Set(names)
}

function bindDim(spec: ValueSpec, axis: number, binding: Binding): number {
  const dim = spec.shape![axis]!
  const place = placeName(spec.name, axis)
  if (Object.hasOwn(binding.given, place)) return choose(binding, place, [binding.given[place]!, 'given'])
  if (typeof dim === 'number' && dim >= 0) return dim
  if (typeof dim === 'string' && dim !== '') return bindName(dim, spec, axis, binding)
  const learnt = learntOf(place, binding)
  return learnt ? choose(binding, place, learnt) : choose(binding, place, byPlace(spec, axis, binding), true)
}

/** What is known better than by convention. */
function learntOf(name: string, { found = {}, asked }: Binding): Choice | null {
  if (Object.hasOwn(found, name)) return [found[name]!, FOUND]
  const size = asked.get(name)
  return size ? [size.size, size.because] : null
}

function bindName(name: string, spec: ValueSpec, axis: number, binding: Binding): number {
  const known = binding.chosen.get(name)
  if (known) return known.size
  if (Object.hasOwn(binding.given, name)) return choose(binding, name, [binding.given[name]!, 'given'])
  if (binding.measured && Object.hasOwn(binding.measured, name)) {
    return choose(binding, name, [binding.measured[name]!, 'as in its file'])
  }
  const learnt = learntOf(name, binding)
  if (learnt) return choose(binding, name, learnt)
  const terms = termsOf(name)
  if (terms.length > 0) return choose(binding, name, [sumOf(name, spec, axis, binding), 'the sum of its terms'])
  return choose(binding, name, defaultOf(name, spec, axis, binding), true)
}

function defaultOf(name: string, spec: ValueSpec, axis: number, binding: Binding): Choice {
  const convention = CONVENTIONS.find(({ pattern }) => pattern.test(name))
  if (!convention || (LETTER.test(name) && hasOpenBefore(spec, axis))) return byPlace(spec, axis, binding)
  if (convention.what === 'the length of a cache' && binding.emptyCaches) return [0, 'an empty cache']
  if (TOTAL.test(name)) return [totalOf(binding, convention.size), 'cache and new tokens together']
  if (convention.what === 'a sequence') return soundOf(spec, axis, binding) ?? [convention.size, byName(convention)]
  return [convention.size, byName(convention)]
}

const byName = ({ what }: Convention) => `by its name, ${what}`

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
function byPlace(spec: ValueSpec, axis: number, binding: Binding): Choice {
  const { shape } = spec
  const isBatch = !hasOpenBefore(spec, axis) && !shape!.slice(0, axis).includes(1)
  if (isBatch) return [1, FIRST]
  if (axis === 1 && shape!.length === 4 && shape!.every(isOpen)) return CHANNELS
  if (shape!.length === 4) return [IMAGE_SIDE, 'one of four axes, assumed to be an image side']
  return soundOf(spec, axis, binding) ?? [SEQUENCE, 'a later open axis, assumed to be a sequence']
}

const isOpen = (dim: number | string | null) => typeof dim !== 'number' || dim < 0

function hasOpenBefore({ shape }: ValueSpec, axis: number): boolean {
  return shape!.slice(0, axis).some(isOpen)
}

/** How much sound an input takes that holds some. */
function soundOf({ name, shape, dtype }: ValueSpec, axis: number, { hearsSound }: Binding): Choice | null {
  if (hearsSound) return SOUND
  // More than a batch and two channels before it are bands of features, not samples.
  const isLast = axis === shape!.length - 1 && !shape!.slice(0, axis).some((dim) => Number(dim) > 2)
  return isLast && dtype !== null && /float|^int16$/.test(dtype) && SOUND_INPUT.test(name) ? SECOND : null
}

function choose(binding: Binding, name: string, [size, because]: Choice, free = false): number {
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new StageError('inputs', `dimension "${name}" is given as ${size}; a size is a whole number, 0 or more`)
  }
  binding.chosen.set(name, { name, size, because, free })
  return size
}
