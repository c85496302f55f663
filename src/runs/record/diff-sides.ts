import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import type { CompareOptions } from '../../compare/contract.ts'
import { defaultRule } from '../../compare/rules/default-rule.ts'
import { UsageError } from '../../domain/errors.ts'
import type { OutputResult, Result } from '../../domain/result.ts'
import { suggest, unknown } from '../../domain/suggest.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { nearFile } from '../../files/disk/near-file.ts'
import { pairTensors, type TensorPair } from '../../files/slices/tensor-pairs.ts'
import { openTensors } from '../../onnx/tensors/open-tensors.ts'
import { openCaseTensors } from './case-tensors.ts'
import { findCase, findRun, lastRunWith, unknownCase } from './find-run.ts'
import type { StoredRun } from './read-run.ts'

type Tensors = ReadonlyMap<string, TensorSource>

type NamedSide =
  | { readonly kind: 'tensors'; readonly label: string; readonly tensors: Tensors }
  | { readonly kind: 'run'; readonly run: StoredRun }
  | { readonly kind: 'case'; readonly run: StoredRun; readonly result: Result }

export interface SideOptions {
  /** Where paths begin. */
  readonly cwd: string
  readonly runsFolder: string
  /** The run that cases are looked for in; the last one by default. */
  readonly run?: string
  /** A case of both runs. */
  readonly case?: string
}

/** What was asked to be compared: two runs, or pairs of tensors of two sides. */
export type DiffRequest =
  | { readonly kind: 'runs'; readonly runs: readonly [StoredRun, StoredRun] }
  | {
      readonly kind: 'tensors'
      readonly labels: { readonly reference: string; readonly target: string }
      readonly pairs: readonly TensorPair[]
      /** How the run judged the pairs of one case, by name, and by which rules. */
      readonly judged?: ReadonlyMap<string, OutputResult>
      readonly ruleOf?: CompareOptions['ruleOf']
    }

/** Finds what the words name: files, folders, runs or cases. */
export async function openSides(words: readonly string[], options: SideOptions): Promise<DiffRequest> {
  if (words.length > 2)
    throw new UsageError('sides', `assay diff compares two sides, found ${words.length}: ${words.join(' ')}`)
  const [first, second] = await Promise.all(words.map((word) => namedSide(word, options)))
  if (!first) throw new UsageError('sides', 'give two files, folders, runs or cases, or one case')
  if (!second) return oneSide(first)
  if (first.kind === 'run' && second.kind === 'run') return ofRuns(first.run, second.run, options)
  if (first.kind === 'run' || second.kind === 'run') throw unlikeSides(words, first, second)
  const [reference, target] = [await tensorsOf(first), await tensorsOf(second)]
  return {
    kind: 'tensors',
    labels: { reference: reference.label, target: target.label },
    pairs: pairTensors(reference.tensors, target.tensors),
  }
}

function unlikeSides(words: readonly string[], first: NamedSide, second: NamedSide): UsageError {
  const say = (word: string | undefined, { kind }: NamedSide) =>
    `"${word}" is ${kind === 'tensors' ? 'tensors' : `a ${kind}`}`
  return new UsageError('sides', `${say(words[0], first)} and ${say(words[1], second)}; a run is compared with a run`)
}

async function oneSide(side: NamedSide): Promise<DiffRequest> {
  if (side.kind === 'run') {
    const what = `run ${side.run.header.id} alone has nothing to be compared with; give a second run, or a case of it`
    throw new UsageError('sides', `${what}: assay diff <case id> --run ${side.run.header.id}`)
  }
  if (side.kind === 'tensors') {
    throw new UsageError('sides', `${side.label} alone has nothing to be compared with; give the other side too`)
  }
  const { run, result } = side
  const [reference, target] = [
    await openCaseTensors(run, result, 'reference'),
    await openCaseTensors(run, result, 'target'),
  ]
  const label = (of: string, by: string) => `${result.id}, ${of} (${by})`
  const labels = { reference: label('reference', result.reference), target: label('target', result.target) }
  const judged = new Map(result.outputs.map((output) => [output.name, output]))
  return { kind: 'tensors', labels, pairs: pairTensors(reference, target), judged, ruleOf: rulesOf(judged) }
}

/** The limits that were recorded; what has none is judged as if nothing were known of it. */
function rulesOf(judged: ReadonlyMap<string, OutputResult>): CompareOptions['ruleOf'] {
  return (name, spec) => {
    const tolerance = judged.get(name)?.tolerance
    return tolerance ? { kind: 'float', tolerance, source: 'as the run judged it' } : defaultRule(name, spec)
  }
}

/** Two runs as a whole, or what both gave for one case. */
async function ofRuns(first: StoredRun, second: StoredRun, options: SideOptions): Promise<DiffRequest> {
  if (options.case === undefined) return { kind: 'runs', runs: [first, second] }
  const word = options.case
  const sides = [first, second].map((run): NamedSide => {
    const result = findCase(run, word)
    if (!result) throw new UsageError('case', `"${word}": ${unknownCase(run, word)}`)
    return { kind: 'case', run, result }
  })
  const [reference, target] = [await tensorsOf(sides[0]!), await tensorsOf(sides[1]!)]
  return {
    kind: 'tensors',
    labels: { reference: reference.label, target: target.label },
    pairs: pairTensors(reference.tensors, target.tensors),
  }
}

async function tensorsOf(side: NamedSide): Promise<{ label: string; tensors: Tensors }> {
  if (side.kind === 'tensors') return side
  if (side.kind === 'run') throw new Error('a run has no tensors of its own: this is a bug in Assay')
  const { run, result } = side
  return {
    label: `${result.id}, target tensors of run ${run.header.id}`,
    tensors: await openCaseTensors(run, result, 'target'),
  }
}

async function namedSide(word: string, options: SideOptions): Promise<NamedSide> {
  const run = await findRun(word, options)
  if (run && !isTensorPath(word)) return { kind: 'run', run }
  const path = resolve(options.cwd, word)
  const at = path.lastIndexOf('#')
  if (existsSync(path)) return { kind: 'tensors', label: word, tensors: await openTensors(path) }
  if (at > 0 && existsSync(path.slice(0, at))) return oneTensor(path.slice(0, at), path.slice(at + 1), word)
  return namedCase(word, options)
}

function isTensorPath(word: string): boolean {
  return ['.npy', '.safetensors', '.pb'].includes(extname(word).toLowerCase())
}

async function oneTensor(path: string, name: string, label: string): Promise<NamedSide> {
  const tensors = await openTensors(path)
  const tensor = tensors.get(name)
  if (!tensor)
    throw unknown('tensor', `tensor "${name}" in ${label.slice(0, -name.length - 1)}`, name, [...tensors.keys()])
  return { kind: 'tensors', label, tensors: new Map([[name, tensor]]) }
}

async function namedCase(word: string, options: SideOptions): Promise<NamedSide> {
  const isCase = !isTensorPath(word)
  const run = isCase ? await runOfCase(word, options) : null
  const result = run && findCase(run, word)
  if (run && result) return { kind: 'case', run, result }
  const near = nearFile(word, options.cwd)
  const file = `there is no file or folder "${word}"`
  if (near !== null) throw new UsageError('sides', `${file}; ${suggest(`"${near}"`)}`)
  if (!isCase) throw new UsageError('sides', file)
  const cases = run ? unknownCase(run, word) : 'no run here has judged anything, where it could be a case'
  throw new UsageError('sides', `${file}, and ${cases}`)
}

/** The run named, or the last one that judged such a case, or else the last that judged any. */
async function runOfCase(word: string, options: SideOptions): Promise<StoredRun | null> {
  const { run, runsFolder } = options
  if (run === undefined) return lastRunWith(word, runsFolder)
  const found = await findRun(run, options)
  if (found) return found
  throw new UsageError('run', `there is no run "${run}" here; give a folder, an id, last or last~1`)
}
