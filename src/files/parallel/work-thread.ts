import { parentPort } from 'node:worker_threads'
import { logitsShare, magnitudeShare, measureShare } from './shared-work.ts'
import { surveyShare } from './survey-share.ts'
import type { ThreadAnswer, ThreadOrder } from './thread-pool.ts'

const port = parentPort
if (!port) throw new Error('work-thread must run as a thread of its own: this is a bug in Assay')

port.on('message', async (order: ThreadOrder) => {
  try {
    port.postMessage({ found: await workOn(order) } satisfies ThreadAnswer)
  } catch (error) {
    port.postMessage({ error } satisfies ThreadAnswer)
  }
})

function workOn(order: ThreadOrder): Promise<unknown> {
  if (order.kind === 'measure') return measureShare(order.pair)
  if (order.kind === 'survey') return surveyShare(order.stretch)
  return order.kind === 'magnitude' ? magnitudeShare(order.tensor) : logitsShare(order.rows)
}
