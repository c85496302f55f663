// A thread of bench/kernels.mjs: holds its part of two float32 tensors in the memory of a kernel and scans it.
import { closeSync, openSync, readSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import * as at from '../dist.modules/compare/kernels/layout.js'
import { instantiate } from '../dist.modules/compare/kernels/wasm.js'

const { files, first, elements } = workerData
const BASE = 1 << 20
const exports = await instantiate()
exports.memory.grow(Math.ceil((BASE + elements * 8) / 65536))
const { buffer } = exports.memory
files.forEach(({ path, start }, side) => {
  const handle = openSync(path, 'r')
  const bytes = new Uint8Array(buffer, BASE + side * elements * 4, elements * 4)
  for (let done = 0; done < bytes.length; ) {
    done += readSync(handle, bytes, done, Math.min(1 << 26, bytes.length - done), start + first * 4 + done)
  }
  closeSync(handle)
})
const results = new Float64Array(buffer, at.RESULTS, at.RESULT_COUNT)
const words = new Float32Array(buffer, at.BLOCKS, (at.CHUNK / at.BLOCK) * at.BLOCK_WORDS)

/** Without bins: mean, maxima, RMSE, SNR, cosine, and whether all is finite; with them everything that a comparison reports. */
function scan(hasBins) {
  const sums = new Float64Array(at.SUMS)
  let [maxAbs, maxUlp] = [0, 0]
  exports.clearBins()
  for (let chunk = 0; chunk + at.CHUNK <= elements; chunk += at.CHUNK) {
    const [r, t] = [BASE + chunk * 4, BASE + (elements + chunk) * 4]
    // Limits that nothing is over, as in a healthy comparison.
    exports.scan(at.FLOAT32, at.CHUNK / at.BLOCK, 1, 1, 0, false, 0, r, t, hasBins ? maxUlp : 2 ** 33, hasBins)
    for (let i = 0; i < at.SUMS; i++) sums[i] += results[i]
    maxUlp = Math.max(maxUlp, results[at.MAX_ULP])
    for (let block = 0; block < at.CHUNK / at.BLOCK; block++) {
      maxAbs = Math.max(maxAbs, words[block * at.BLOCK_WORDS + at.WORD_MAX_ABS])
    }
  }
  return { sums, maxAbs }
}

parentPort.on('message', (hasBins) => parentPort.postMessage(scan(hasBins)))
parentPort.postMessage('ready')
