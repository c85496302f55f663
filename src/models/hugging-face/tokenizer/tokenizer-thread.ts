import { parentPort, workerData } from 'node:worker_threads'
import { FormatError } from '../../../domain/errors.ts'
import { makeCoder, type TokenizerFiles } from './make-coder.ts'
import type { TokenCoder } from './token-coder.ts'
import type { CoderAnswer, CoderOrder } from './tokenizer.ts'

const port = parentPort
if (!port) throw new Error('tokenizer-thread must run as a thread of its own: this is a bug in Assay')

// The library's warnings quote the folder's file unescaped, so they are dropped.
for (const stream of [process.stdout, process.stderr]) stream.write = () => true

let coder: TokenCoder | null = null

port.on('message', (order: CoderOrder) => {
  try {
    coder ??= makeCoder(workerData as TokenizerFiles)
    port.postMessage({ found: answer(coder, order) } satisfies CoderAnswer)
  } catch (error) {
    port.postMessage(refusal(error))
  }
})

function answer(coder: TokenCoder, order: CoderOrder): unknown {
  if (order.kind === 'encode') return coder.encode(order.text)
  if (order.kind === 'count') return order.texts.map((text) => coder.encode(text).length)
  if (order.kind === 'decode') return coder.decode(order.ids, order.options)
  if (order.kind === 'pieces') return coder.pieces(order.ids)
  if (order.kind === 'piece') return order.ids.map((id) => coder.piece(id))
  return order.kind === 'id' ? coder.idOf(order.token) : null
}

/** A text that grows over what a string can hold is the tokenizer's doing. */
function refusal(error: unknown): CoderAnswer {
  if (error instanceof FormatError) return { refused: error.message }
  if (error instanceof RangeError) return { refused: `the tokenizer cannot be used: ${error.message}` }
  return { error }
}
