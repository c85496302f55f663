import { parentPort, workerData } from 'node:worker_threads'
import type { Parser, Parsers, Task, Told } from './contract.ts'
import { inputOf } from './input.ts'

/** Errors that a reader may throw: they are told to people in their own words. */
const DOCUMENTED = ['FormatError', 'UsageError', 'StageError', 'SkipCase', 'ProtocolError']

/** The thread of a fuzzer: reads the inputs of one task after another, and says which one it is at. */
export function serveFuzz(parsers: Parsers): void {
  const { folder, at } = workerData as { folder: string; at: Int32Array }
  const tell = (told: Told) => parentPort!.postMessage(told)
  parentPort!.on('message', async ({ parser, seed, from, to }: Task) => {
    for (let number = from; number < to; number++) {
      Atomics.store(at, 0, number)
      const text = await problemOf(parsers[parser]!, inputOf(parser, parsers[parser]!, seed, number), folder)
      if (text !== null) tell({ type: 'crash', number, text })
    }
    tell({ type: 'done' })
  })
}

async function problemOf(parser: Parser, input: Uint8Array, folder: string): Promise<string | null> {
  try {
    await parser.read(input, folder)
    return null
  } catch (error) {
    if (error instanceof Error && DOCUMENTED.includes(error.name)) return null
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}
