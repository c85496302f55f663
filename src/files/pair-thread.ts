import { parentPort } from 'node:worker_threads'
import { magnitudeShare, measureShare } from './pair-share.ts'
import type { ThreadAnswer, ThreadOrder } from './thread-pool.ts'

const port = parentPort
if (!port) throw new Error('pair-thread runs as a thread of its own: this is a bug in Assay')

port.on('message', async (order: ThreadOrder) => {
  try {
    const found = order.kind === 'measure' ? await measureShare(order.pair) : await magnitudeShare(order.tensor)
    port.postMessage({ found } satisfies ThreadAnswer)
  } catch (error) {
    port.postMessage({ error } satisfies ThreadAnswer)
  }
})
