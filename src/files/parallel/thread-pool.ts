import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { builtFile } from '../disk/own-files.ts'
import type { SharedPair, SharedRows, SharedTensor } from './shared-work.ts'
import type { SurveyStretch } from './survey-share.ts'

export type ThreadOrder =
  | { readonly kind: 'measure'; readonly pair: SharedPair }
  | { readonly kind: 'magnitude'; readonly tensor: SharedTensor }
  | { readonly kind: 'logits'; readonly rows: SharedRows }
  | { readonly kind: 'survey'; readonly stretch: SurveyStretch }

export interface ThreadAnswer {
  readonly found?: unknown
  readonly error?: unknown
}

const idle: Worker[] = []

/** Gives a thread its share. Threads are reused and do not keep the process alive. */
export async function askThread<T>(order: ThreadOrder): Promise<T> {
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
  return new Worker(builtFile('files/parallel/work-thread.js'))
}
