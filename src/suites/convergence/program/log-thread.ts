import { parentPort, workerData } from 'node:worker_threads'
import { LogParser } from './log-parser.ts'
import type { ReadAnswer, ReadOrder, ReadSetup } from './log-reading.ts'

const port = parentPort
if (!port) throw new Error('log-thread runs as a thread of its own: this is a bug in Assay')

const { parsing, patternMs, isMute } = workerData as ReadSetup
const parser = new LogParser(parsing, patternMs)

port.on('message', (order: ReadOrder) => port.postMessage(answer(order)))

function answer(order: ReadOrder): ReadAnswer {
  if (order.kind === 'end') return { ...parser.end(), end: atEnd() }
  const isWanted = Atomics.load(isMute, 0) === 0
  return { ...(isWanted ? parser.feed(order.parts) : { events: [], problem: null }), end: null }
}

const atEnd = () => ({ lineCount: parser.lineCount, warnings: parser.warnings })
