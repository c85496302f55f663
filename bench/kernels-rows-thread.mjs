// A thread of bench/kernels.mjs: holds its part of the rows of two tensors of logits in memory and compares them.
import { parentPort, workerData } from 'node:worker_threads'
import { compareLogits } from '../dist/index.js'

const { tensors, size, from, to, top } = workerData
const [r, t] = tensors.map((buffer) => new Float32Array(buffer))
const pairs = Array.from({ length: to - from }, (_, i) =>
  [r, t].map((all) => all.subarray((from + i) * size, (from + i + 1) * size)),
)

parentPort.on('message', async () => parentPort.postMessage((await compareLogits(pairs, top)).length))
parentPort.postMessage('ready')
