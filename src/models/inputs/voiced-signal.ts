import { randomStream } from '../random.ts'

/** y[n] = (1 − a + b)·x[n] + a·y[n−1] − b·y[n−2] */
interface Resonator {
  readonly a: number
  readonly b: number
}

type Vowel = readonly Resonator[]

// Formants 1 to 4 of an adult voice at 16 kHz: a = 2·exp(−π·bandwidth/rate)·cos(2π·frequency/rate), b = exp(−2π·bandwidth/rate).
// Written out, because exp and cos may differ in their last bits between machines.
const VOWELS: readonly Vowel[] = [
  // 530, 1840, 2480, 3500 Hz
  [r(1.930126132, 0.972885447), r(1.471052654, 0.96149116), r(1.097988813, 0.953969203), r(0.378113303, 0.939101367)],
  // 570, 840, 2410, 3400 Hz
  [r(1.923485384, 0.972885447), r(1.859027012, 0.96527435), r(1.141980668, 0.953969203), r(0.45245093, 0.939101367)],
  // 730, 1090, 2440, 3500 Hz
  [r(1.888482949, 0.969072426), r(1.787688633, 0.96527435), r(1.12323075, 0.953969203), r(0.378113303, 0.939101367)],
  // 270, 2290, 3010, 3600 Hz
  [r(1.965476277, 0.97671347), r(1.220151825, 0.96149116), r(0.738998772, 0.950230321), r(0.30259792, 0.935420757)],
  // 300, 870, 2240, 3400 Hz
  [r(1.962875579, 0.97671347), r(1.851399741, 0.96527435), r(1.245161194, 0.953969203), r(0.45245093, 0.939101367)],
]

const VOWEL_SAMPLES = 2400
const WARM_UP_SAMPLES = 800
const PEAK = 0.5
// Without breath the upper bands hold nothing but roundings, which models that take logarithms blow up two hundredfold.
const BREATH = 0.002

function r(a: number, b: number): Resonator {
  return { a, b }
}

/** Vowel after vowel as a voice at 16 kHz would speak them, peak about 0.5: glottal pulses through formant resonators. */
export function voicedSignal(samples: number): Float64Array {
  const source = glottalPulses(samples + WARM_UP_SAMPLES)
  const spoken = resonate(source).subarray(WARM_UP_SAMPLES)
  const peak = spoken.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const breath = randomStream(0, 'breath')
  return spoken.map((value) => (peak === 0 ? 0 : (value * PEAK) / peak) + BREATH * breath.normal())
}

/** The change of a Rosenberg pulse: 40 % of a period opening, 16 % closing, then closed; the pitch falls from 100 to 94 Hz in each vowel. */
function glottalPulses(samples: number): Float64Array {
  const flow = new Float64Array(samples)
  for (let n = 0, phase = 0; n < samples; n++) {
    flow[n] = glottalFlow(phase)
    const period = 160 + (10 * (n % VOWEL_SAMPLES)) / VOWEL_SAMPLES
    phase += 1 / period
    if (phase >= 1) phase -= 1
  }
  return flow.map((value, n) => value - (n === 0 ? 0 : flow[n - 1]!))
}

function glottalFlow(phase: number): number {
  if (phase < 0.4) return (phase / 0.4) * (phase / 0.4) * (3 - (2 * phase) / 0.4)
  if (phase < 0.56) return 1 - ((phase - 0.4) / 0.16) * ((phase - 0.4) / 0.16)
  return 0
}

function resonate(source: Float64Array): Float64Array {
  return [0, 1, 2, 3].reduce(filterFormant, source)
}

function filterFormant(input: Float64Array, formant: number): Float64Array {
  const output = new Float64Array(input.length)
  for (let n = 0, y1 = 0, y2 = 0; n < input.length; n++) {
    const { a, b } = VOWELS[Math.floor(n / VOWEL_SAMPLES) % VOWELS.length]![formant]!
    const y = (1 - a + b) * input[n]! + a * y1 - b * y2
    output[n] = y
    y2 = y1
    y1 = y
  }
  return output
}
