// Compares drawn tensors and logits; runs as it is in Node and in a page. The kernels are those of ASSAY_KERNELS.
import { compareTensors } from '../../dist.modules/compare/compare-tensors.js'
import { kernelName } from '../../dist.modules/compare/kernels/lend.js'
import { compareLogits } from '../../dist.modules/compare/logits.js'
import { tableRule } from '../../dist.modules/compare/rules/tolerances.js'
import { encodeNumbers } from '../../dist.modules/tensors/encode.js'
import { memorySource } from '../../dist.modules/tensors/memory-source.js'

/** The same everywhere: no function of the host's own mathematics. */
function drawn(seed, length, scale) {
  let state = seed
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.fround((state / 2 ** 31 - 1) * scale)
  })
}

const NOISES = { healthy: 1e-6, noisy: 1e-2 }

function targetOf(reference, noise, special) {
  const target = drawn(7, reference.length, noise).map((error, i) => Math.fround(reference[i] * (1 + error)))
  if (special !== undefined) target[4321] = special
  return target
}

async function judged(dtype, reference, target) {
  const [r, t] = [reference, target].map((values) =>
    memorySource('y', { dtype, shape: [values.length], bytes: encodeNumbers(dtype, values) }),
  )
  const context = { generated: true, targetDType: null }
  const { verdict, reason, mismatches, worst, metrics } = await compareTensors(r, t, tableRule(dtype, 'model'), context)
  return { verdict, reason, mismatches, worst, metrics: metrics.map(({ name, value }) => [name, String(value)]) }
}

/** Everything as JSON: NaN and infinities are written as words. */
export async function compareAll() {
  const found = {}
  const reference = drawn(1, 10_007, 3)
  for (const dtype of ['float32', 'float16', 'bfloat16', 'float64']) {
    for (const [name, noise] of Object.entries(NOISES)) {
      found[`${dtype} ${name}`] = await judged(dtype, reference, targetOf(reference, noise))
    }
    found[`${dtype} NaN`] = await judged(dtype, reference, targetOf(reference, 0, Number.NaN))
  }
  const logits = [Float32Array.from(reference), Float32Array.from(targetOf(reference, 1e-2))]
  const [row] = await compareLogits([logits], 20)
  const distances = Object.entries({ ...row.full }).map(([name, value]) => [name, String(value)])
  const { topIds, argMaxReference, argMaxTarget } = row
  return JSON.stringify({ kernels: kernelName(), found, logits: { topIds, argMaxReference, argMaxTarget, distances } })
}
