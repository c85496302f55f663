import { normalNumbers, randomNumbers } from './random.mjs'

export const CLASSES = 3
const POINTS = 600
const TURNS = 0.75
const SPREAD = 0.08
const DATA = 1
const BATCHES = 2

/** Points of three arms of a spiral, and which arm each is of. */
export function makeSpirals(seed) {
  const normal = normalNumbers(seed, DATA)
  const points = new Float64Array(2 * POINTS)
  const labels = new Uint8Array(POINTS)
  for (let i = 0; i < POINTS; i++) {
    const radius = (i + 1) / POINTS
    labels[i] = i % CLASSES
    const angle = 2 * Math.PI * (labels[i] / CLASSES + TURNS * radius) + SPREAD * normal()
    points[2 * i] = radius * Math.cos(angle)
    points[2 * i + 1] = radius * Math.sin(angle)
  }
  return { points, labels }
}

/** A step's batch depends on the seed and on its number alone, so a training that is resumed sees the same ones. */
export function drawBatch({ points, labels }, size, seed, step) {
  const random = randomNumbers(seed, BATCHES, step)
  const batch = { points: new Float64Array(2 * size), labels: new Uint8Array(size) }
  for (let row = 0; row < size; row++) {
    const i = Math.floor(random() * labels.length)
    batch.points.set(points.subarray(2 * i, 2 * i + 2), 2 * row)
    batch.labels[row] = labels[i]
  }
  return batch
}
