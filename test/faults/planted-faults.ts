import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RealModel } from '../../examples/real-models/real-models.ts'
import { toleranceFor } from '../../src/compare/rules/tolerances.ts'
import type { Result } from '../../src/domain/result.ts'
import { randomStream } from '../../src/models/random.ts'
import { type FaultKind, type FaultOptions, type FaultPlace, faultPlaces } from './faults.ts'

export const FAULT_KINDS: readonly FaultKind[] = ['weight', 'channels', 'bias', 'epsilon', 'bf16']

export interface PlantedFault {
  /** Also the name of the target that runs it. */
  readonly name: string
  readonly kind: FaultKind
  readonly where: string
  readonly path: string
}

/** Faulty copies of a model in `folder`: `perKind` of each kind, spread over the graph and its branches. */
export function plantFaults(
  model: Pick<RealModel, 'id' | 'path'>,
  folder: string,
  perKind: number,
  seed: number,
): PlantedFault[] {
  mkdirSync(folder, { recursive: true })
  const places = faultPlaces(new Uint8Array(readFileSync(model.path)))
  return FAULT_KINDS.flatMap((kind) => {
    const candidates = places.filter((place) => place.kind === kind)
    return plantKind(kind, candidates, perKind, randomStream(seed, `${model.id}:${kind}`).unit).map((planted, i) => {
      const name = `${kind}-${i + 1}`
      const path = join(folder, `${name}.onnx`)
      writeFileSync(path, planted.bytes)
      return { name, kind, where: planted.where, path }
    })
  })
}

interface Planted {
  readonly where: string
  readonly bytes: Uint8Array
}

/** One place in each of `perKind` equal stretches of the list; the next one where a fault would change nothing. */
function plantKind(kind: FaultKind, candidates: FaultPlace[], perKind: number, unit: () => number): Planted[] {
  const hasPicks = kind === 'weight' || kind === 'channels'
  const count = candidates.length === 0 || hasPicks ? perKind : Math.min(perKind, candidates.length)
  const planted: Planted[] = []
  for (let i = 0; i < count; i++) {
    const from = Math.floor(((i + unit()) / count) * candidates.length)
    const found = firstThatChanges([...candidates.slice(from), ...candidates.slice(0, from)], { pick: unit() })
    if (found) planted.push(found)
  }
  return planted
}

function firstThatChanges(candidates: readonly FaultPlace[], options: FaultOptions): Planted | undefined {
  for (const { where, plant } of candidates) {
    try {
      return { where, bytes: plant(options) }
    } catch (error) {
      if (!(error instanceof Error) || !/change nothing|stay the same/.test(error.message)) throw error
    }
  }
  return undefined
}

/** What a fault did to one output, measured by this file's own reading of the rule and not by src/compare. */
export interface OutputLoad {
  readonly output: string
  readonly relL2: number
  readonly maxAbs: number
  readonly maxReference: number
  /** The largest of error over allowed error and relL2 over its limit: above 1 is over tolerance. */
  readonly load: number
}

/** Measures the traces that a case kept. */
function measureAgain(result: Result, runFolder: string, computes: RealModel['computes']): OutputLoad[] {
  const trace = (name: string) => {
    const artifact = result.artifacts.find((candidate) => candidate.name === name)
    if (!artifact) throw new Error(`${result.id} is ${result.verdict} and kept no ${name}`)
    return readFloats(join(runFolder, artifact.path))
  }
  const target = trace('target.safetensors')
  return [...trace('reference.safetensors')].map(([output, r]) => loadOf(output, r, target.get(output)!, computes))
}

function loadOf(output: string, r: Float32Array, t: Float32Array, computes: RealModel['computes']): OutputLoad {
  if (r.length !== t.length) throw new Error(`output ${output} has ${r.length} and ${t.length} elements`)
  const limits = toleranceFor(computes, 'model')
  const maxReference = r.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const hasScale = r.length > 1 && maxReference > 0
  let [maxAbs, worst, squares, norm] = [0, 0, 0, 0]
  r.forEach((value, i) => {
    const error = Math.abs(t[i]! - value)
    const relative = hasScale ? limits.rtol : Math.min(limits.rtol, limits.relL2!)
    const allowed = relative * Math.abs(value) + (hasScale ? limits.scale * maxReference : limits.floor)
    maxAbs = Math.max(maxAbs, error)
    worst = Math.max(worst, error / allowed)
    squares += error * error
    norm += value * value
  })
  const relL2 = squares === 0 ? 0 : Math.sqrt(squares / norm)
  return { output, relL2, maxAbs, maxReference, load: Math.max(worst, hasScale ? relL2 / limits.relL2! : 0) }
}

function readFloats(path: string): Map<string, Float32Array> {
  const bytes = readFileSync(path)
  const start = 8 + Number(bytes.readBigUInt64LE(0))
  const header = JSON.parse(bytes.toString('utf8', 8, start)) as Record<string, SafetensorsEntry>
  return new Map(
    Object.entries(header).flatMap(([name, { dtype, data_offsets: [from, to] = [0, 0] }]) => {
      if (name === '__metadata__') return []
      if (dtype !== 'F32') throw new Error(`${name} is ${dtype}, and this reads F32 only`)
      return [[name, new Float32Array(new Uint8Array(bytes.subarray(start + from, start + to)).buffer)] as const]
    }),
  )
}

interface SafetensorsEntry {
  readonly dtype: string
  readonly data_offsets?: readonly [number, number]
}

/** A run of the command line: its folder, and its results by target name. */
export interface JudgedRun {
  readonly folder: string
  readonly results: ReadonlyMap<string, Result>
}

export interface MeasuredCase {
  readonly result: Result
  /** Empty where both sides gave the same bits. */
  readonly loads: readonly OutputLoad[]
}

/**
 * Judges by the table, and whatever passes again at zero tolerance: so every trace that differs is kept and its size can be
 * measured.
 */
export async function judgeAndMeasure(
  targets: readonly string[],
  computes: RealModel['computes'],
  run: (targets: readonly string[], extra: readonly string[]) => Promise<JudgedRun>,
): Promise<MeasuredCase[]> {
  const judged = await run(targets, [])
  const passed = targets.filter((target) => judged.results.get(nameOf(target))?.verdict === 'pass')
  const strict = passed.length > 0 ? await run(passed, ['--atol', '0', '--rtol', '0']) : judged
  return [...judged.results.values()].map((result) => {
    const { folder, results } = result.verdict === 'pass' ? strict : judged
    const kept = results.get(result.target)!
    const isSame = kept.verdict === 'pass' || kept.verdict === 'error'
    return { result, loads: isSame ? [] : measureAgain(kept, folder, computes) }
  })
}

function nameOf(target: string): string {
  return target.slice(0, target.indexOf('='))
}

/** What contradicts the measured size of a fault in its verdict; empty where nothing does. */
export function contradictions(result: Result, loads: readonly OutputLoad[]): string[] {
  const over = loads.filter(({ load }) => !(load <= 1))
  const say = (what: string) => [`${result.id} is ${result.verdict}: ${what}`]
  if (result.verdict === 'error') return say(result.error?.message ?? 'no message')
  if (over.length === 0) return result.verdict === 'pass' ? [] : say('all outputs are within tolerance')
  if (result.verdict === 'fail') return []
  if (result.verdict !== 'inconclusive') return say(`${over.length} outputs are over tolerance`)
  if (!result.flags.includes('sensitive')) return say('without the flag "sensitive"')
  const outside = over.filter(({ output, relL2, maxAbs }) => {
    const band = result.band?.find((candidate) => candidate.output === output)
    const reach = (band?.margin ?? 0) * (1 + 1e-6)
    return !(band && relL2 <= band.relL2 * reach && maxAbs <= band.maxAbs * reach)
  })
  return outside.length === 0 ? [] : say(`${outside.map(({ output }) => output).join(', ')} lie outside the band`)
}
