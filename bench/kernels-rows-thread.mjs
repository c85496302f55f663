// A thread of bench/kernels.mjs: holds its part of the rows of two tensors of logits in memory and compares them.
import { parentPort, workerData } from 'node:worker_threads'
import { compareLogits } from '../dist/index.js'

const { tensors, size, from, to, top } = workerData
// Memory of its own: what is shared between threads is copied 2.6 times as slowly.
const [r, t] = tensors.map((buffer) => new Float32Array(buffer).slice(from * size, to * size))
const pairs = Array.from({ length: to - from }, (_, i) => [r, t].map((all) => all.subarray(i * size, (i + 1) * size)))

parentPort.on('message', async () => parentPort.postMessage((await compareLogits(pairs, top)).length))
parentPort.postMessage('ready')
