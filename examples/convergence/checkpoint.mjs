import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { PARAMETERS } from './network.mjs'
import { refuse } from './options.mjs'

const FORMAT = 'spirals-1'
const ARRAYS = ['parameters', 'first', 'second']

/** A line of JSON, then the doubles as they are in memory: what is read is bit for bit what was written. */
export function saveCheckpoint(path, state, { nextStep, seed }) {
  const header = JSON.stringify({ format: FORMAT, nextStep, seed, count: PARAMETERS })
  const arrays = ARRAYS.map((name) => Buffer.from(state[name].buffer))
  const unfinished = `${path}.${process.pid}.part`
  writeFileSync(unfinished, Buffer.concat([Buffer.from(`${header}\n`), ...arrays]))
  renameSync(unfinished, path)
}

export function loadCheckpoint(path) {
  const bytes = readCheckpoint(path)
  const start = bytes.indexOf('\n') + 1
  const header = readHeader(bytes.subarray(0, start), path)
  const wanted = start + ARRAYS.length * PARAMETERS * Float64Array.BYTES_PER_ELEMENT
  if (bytes.length !== wanted)
    refuse(`${path} has ${bytes.length} bytes, not ${wanted}: it is cut off or of another program`)
  const numbers = new Float64Array(Uint8Array.from(bytes.subarray(start)).buffer)
  const state = ARRAYS.map((name, i) => [name, numbers.slice(i * PARAMETERS, (i + 1) * PARAMETERS)])
  return { ...header, state: Object.fromEntries(state) }
}

function readCheckpoint(path) {
  try {
    return readFileSync(path)
  } catch (error) {
    return refuse(`the checkpoint cannot be read: ${error.message}`)
  }
}

function readHeader(bytes, path) {
  try {
    const header = JSON.parse(bytes.toString())
    if (header.format === FORMAT && header.count === PARAMETERS) return header
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return refuse(`${path} is not a checkpoint of this program`)
}
