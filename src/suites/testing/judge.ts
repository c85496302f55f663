import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Result } from '../../domain/result.ts'
import { FileDigests } from '../../files/disk/digest.ts'
import { PromptBatches } from '../../models/prompts/prompt-batches.ts'
import type { Suite } from '../../runs/contract.ts'
import { executeRun, type RunOutcome, type RunRequest } from '../../runs/execute/execute.ts'
import { freshFolder, runRequest } from '../../runs/testing/tiny-suite.ts'
import type { InProcessKind } from '../../runtimes/contract.ts'
import { inProcessPool, testTarget } from '../../runtimes/testing/in-process-ort.ts'
import { type FoldersSuiteOptions, foldersSuite } from '../folders/suite.ts'
import { type LayersSuiteOptions, layersSuite } from '../layers/suite.ts'
import { type OnnxSuite, type OnnxSuiteOptions, onnxSuite } from '../onnx/suite.ts'

/** A folder of its own with these files. */
export function folderWith(files: Readonly<Record<string, Uint8Array | string>>): string {
  const folder = freshFolder()
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

/** A whole run in this process, recorded in the folder; what was computed there before is found again. */
export function runSuites(folder: string, suites: readonly Suite[], more: Partial<RunRequest> = {}) {
  return executeRun({ ...runRequest(join(folder, '.assay'), suites[0]!), suites, ...more })
}

export interface Judging
  extends Partial<Omit<OnnxSuiteOptions, 'pool' | 'cwd' | 'reference' | 'targets' | 'otherReferences'>> {
  /** What is to be found in the folder; all that lies in it by default. */
  readonly paths?: readonly string[]
  /** undefined: recorded outputs where a model has them. */
  readonly reference?: string
  readonly otherReferences?: readonly string[]
  readonly targets?: readonly string[]
  /** Runtimes besides `ort`. */
  readonly kinds?: readonly InProcessKind[]
  readonly run?: Partial<RunRequest>
  /** Something around the suite. */
  readonly around?: (suite: OnnxSuite, pool: OnnxSuiteOptions['pool']) => Promise<Suite>
}

/** onnxruntime without optimisation, so that it is not its own reference. */
export const PLAIN = 'ort:cpu,optimization=disabled'

/** Judges ONNX models in a folder against onnxruntime, all in this process. */
export async function judgeModels(folder: string, judging: Judging = {}): Promise<RunOutcome> {
  const { kinds = [], run = {}, around } = judging
  const pool = inProcessPool(folder, kinds)
  try {
    const suite = onnxSuite({ ...suiteOptions(folder, judging), pool })
    return await runSuites(folder, [around ? await around(suite, pool) : suite], run)
  } finally {
    await pool.close()
  }
}

/** Judges Hugging Face folders, with a reference that runs them. */
export async function judgeFolders(folder: string, judging: Judging & { reference: string }): Promise<RunOutcome> {
  const { kinds = [], run = {} } = judging
  const pool = inProcessPool(folder, kinds)
  const options: FoldersSuiteOptions = {
    ...suiteOptions(folder, judging),
    reference: testTarget(judging.reference),
    pool,
  }
  try {
    return await runSuites(folder, [foldersSuite(options)], run)
  } finally {
    await pool.close()
  }
}

type MeasuringLayers = Judging & { readonly reference: string } & Partial<
    Pick<LayersSuiteOptions, 'mode' | 'sizes' | 'notice' | 'judgedBy' | 'csv' | 'names'>
  >

/** Measures the layers of Hugging Face folders, and judges them where it is said by what. */
export async function measureFolders(folder: string, judging: MeasuringLayers): Promise<RunOutcome> {
  const { kinds = [], run = {} } = judging
  const pool = inProcessPool(folder, kinds)
  const digests = new FileDigests()
  const cacheFolder = join(folder, '.assay', 'cache')
  const reference = testTarget(judging.reference)
  const targets = suiteOptions(folder, judging).targets
  const options: LayersSuiteOptions = {
    mode: 'model-forward',
    forOnnx: { reference, targets },
    sizes: { batchSizes: [2], promptLengths: [8], newTokens: [0] },
    digests,
    tokenizer: null,
    prompts: new PromptBatches({ path: null, seed: 0, cacheFolder, digests }),
    judgedBy: null,
    notice: () => {},
    ...suiteOptions(folder, judging),
    reference,
    pool,
  }
  try {
    return await runSuites(folder, [layersSuite(options)], run)
  } finally {
    await pool.close()
  }
}

export function suiteOptions(folder: string, judging: Judging): Omit<OnnxSuiteOptions, 'pool'> {
  const { reference, otherReferences = [], targets = [PLAIN], kinds: _kinds, run: _run, around: _, ...more } = judging
  return {
    cwd: folder,
    paths: ['.'],
    reference: reference === undefined ? null : testTarget(reference),
    defaultReference: testTarget('ort:cpu'),
    otherReferences: otherReferences.map(testTarget),
    targets: targets.map(testTarget),
    areDefaults: false,
    seed: 0,
    shapes: [],
    inputs: [],
    tolerances: [],
    scopes: ['full'],
    layerGroups: [],
    layerInputs: 'reference',
    contents: false,
    ...more,
  }
}

/** The only case of a run. */
export function onlyResult({ results }: RunOutcome): Result {
  const [result, ...others] = results
  if (!result || others.length > 0) throw new Error(`expected one result, found ${results.length}`)
  return result
}

/** `pass full_model` … */
export function verdicts({ results }: RunOutcome): string[] {
  return results.map(({ scope, verdict }) => `${verdict} ${scope}`)
}
