import { StageError } from '../../domain/errors.ts'
import { elementCount, formatShape, type TensorSpec } from '../../domain/tensor.ts'
import type { RandomStream } from '../random.ts'
import { fillRange } from './input-fill.ts'
import type { InputPolicy, Signal } from './input-policy.ts'
import { drawText } from './text-image.ts'
import { voicedSignal } from './voiced-signal.ts'

type SignalPolicy = Extract<InputPolicy, { signal: Signal }>

export function fillSignal(spec: TensorSpec, { signal, range }: SignalPolicy, random: RandomStream): Float64Array {
  const count = elementCount(spec.shape)
  switch (signal) {
    case 'voiced':
      return voiced(spec, range ?? [-1, 1])
    case 'text':
      return text(spec, range ?? [-1, 1])
    case 'normal':
      return normal(count, range ?? [-1, 1], random)
    case 'uniform':
      return fillRange(spec, ...(range ?? ([-1, 1] as const)), random)
    case 'ones':
      return new Float64Array(count).fill(range?.[1] ?? 1)
    case 'zeros':
      return new Float64Array(count).fill(range?.[0] ?? 0)
  }
}

/** Every row along the last axis speaks; full scale is the range. */
function voiced({ shape }: TensorSpec, [low, high]: readonly [number, number]): Float64Array {
  const samples = shape.at(-1) ?? 1
  const row = voicedSignal(samples)
  const middle = (low + high) / 2
  const half = (high - low) / 2
  return Float64Array.from({ length: elementCount(shape) }, (_, i) => middle + half * row[i % samples]!)
}

/** Ink at the low level on paper at the high one; the two longest neighbouring axes are the picture, as in NCHW and NHWC. */
function text(spec: TensorSpec, [ink, paper]: readonly [number, number]): Float64Array {
  const { shape } = spec
  if (shape.length < 2) throw notAnImage(spec)
  const last = shape.length - 1
  const channelsLast = shape.length > 2 && shape[last]! <= 4 && shape[last - 2]! > 4
  const [height, width, channels] = channelsLast
    ? [shape[last - 2]!, shape[last - 1]!, shape[last]!]
    : [shape[last - 1]!, shape[last]!, 1]
  const drawn = drawText(height, width)
  return Float64Array.from({ length: elementCount(shape) }, (_, i) => {
    return drawn[Math.floor(i / channels) % (height * width)] === 1 ? ink : paper
  })
}

function notAnImage({ name, shape }: TensorSpec): StageError {
  return new StageError(
    'inputs',
    `input "${name}" of shape ${formatShape(shape)} cannot hold drawn text; it needs height and width`,
  )
}

/** Mean in the middle of the range, standard deviation half of it. */
function normal(count: number, [low, high]: readonly [number, number], random: RandomStream): Float64Array {
  const mean = (low + high) / 2
  const deviation = (high - low) / 2
  return Float64Array.from({ length: count }, () => mean + deviation * random.normal())
}
