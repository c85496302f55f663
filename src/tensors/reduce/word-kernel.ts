import { rowModule } from './row-module.ts'
import { MOST_WORDS, WORDS } from './word-layout.ts'

interface Exports {
  readonly memory: WebAssembly.Memory
  surveyWords(count: number): number
}

/** The codes of float32 numbers without their sign. */
export interface SurveyedWords {
  readonly largest: number
  readonly zeros: number
}

const BYTES = MOST_WORDS * 4

let kernel: Exports | undefined

/** Surveys whole 32-bit words, in WebAssembly. */
export function surveyWords(bytes: Uint8Array): SurveyedWords {
  kernel ??= new WebAssembly.Instance(rowModule()).exports as WebAssembly.Exports & Exports
  const place = new Uint8Array(kernel.memory.buffer, WORDS, BYTES)
  let [largest, zeros] = [0, 0]
  for (let from = 0; from < bytes.length; from += BYTES) {
    const part = bytes.subarray(from, from + BYTES)
    const room = Math.ceil(part.length / 16) * 16
    place.set(part)
    place.fill(0, part.length, room)
    const found = kernel.surveyWords(room / 4)
    largest = Math.max(largest, Math.floor(found / 65536))
    zeros += (found % 65536) - (room - part.length) / 4
  }
  return { largest, zeros }
}
