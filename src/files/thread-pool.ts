import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { PairPart } from '../compare/pair-statistics.ts'
import type { SharedPair, SharedTensor } from './pair-share.ts'

export type ThreadOrder =
  | { readonly kind: 'measure'; readonly pair: SharedPair }
  | { readonly kind: 'magnitude'; readonly tensor: SharedTensor }

export interface ThreadAnswer {
  readonly found?: PairPart | number
  readonly error?: unknown
}

const idle: Worker[] = []

/** Has a thread do its share; threads are kept for the next order, and none of them keeps the process alive. */
export async function askThread<T extends PairPart | number>(order: ThreadOrder): Promise<T> {
  const thread = idle.pop() ?? startThread()
  thread.ref()
  thread.postMessage(order)
  const answer = await answerOf(thread)
  thread.unref()
  idle.push(thread)
  if (answer.found === undefined) throw answer.error
  return answer.found as T
}

async function answerOf(thread: Worker): Promise<ThreadAnswer> {
  const waiting = new AbortController()
  const { signal } = waiting
  try {
    const ended = once(thread, 'exit', { signal }).then(([code]) => {
      throw new Error(`a thread that compares tensors ended with code ${code}: this is a bug in Assay`)
    })
    const [answer] = (await Promise.race([once(thread, 'message', { signal }), ended])) as [ThreadAnswer]
    return answer
  } finally {
    waiting.abort()
  }
}

function startThread(): Worker {
  // Under a test runner this module itself is source.
  const isSource = import.meta.url.endsWith('.ts')
  return new Worker(new URL(isSource ? '../../dist/files/pair-thread.js' : './pair-thread.js', import.meta.url))
}
