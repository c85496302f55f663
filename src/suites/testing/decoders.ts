import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readEndIds } from '../../models/hugging-face/end-ids.ts'
import { loadTokenizer } from '../../models/hugging-face/tokenizer/load-tokenizer.ts'
import { PromptBatches } from '../../models/prompts/prompt-batches.ts'
import type { RunOutcome, RunRequest } from '../../runs/execute/execute.ts'
import type { InProcessKind } from '../../runtimes/contract.ts'
import { inProcessPool, testTarget } from '../../runtimes/testing/in-process-ort.ts'
import { baselineSuite } from '../decoders/baseline-suite.ts'
import type { DecoderModel } from '../decoders/decoder-model.ts'
import type { SequenceSummary } from '../decoders/gates/contract.ts'
import type { GateChoice } from '../decoders/gates/gate-choice.ts'
import { microDecoder } from '../decoders/micro/choices.ts'
import { writeMicroFolder } from '../decoders/micro/write-folder.ts'
import { OnnxExports } from '../decoders/onnx-exports.ts'
import { type DecodersSuiteOptions, type DecodingOptions, decodersSuite } from '../decoders/suite.ts'
import { runSuites } from './judge.ts'

interface MicroModel {
  readonly seed?: number
  /** float16 besides float32. */
  readonly half?: boolean
}

/** A decoder of two layers with random weights, as `assay micro` writes it. */
export async function microModel(folder: string, name: string, micro: MicroModel = {}): Promise<DecoderModel> {
  const { seed = 0, half = false } = micro
  const place = join(folder, name)
  const config = microDecoder('llama', { layers: 2, hidden: 32, heads: 4, vocab: 300, positions: 64 })
  await writeMicroFolder({
    folder: place,
    config,
    seed,
    weightDType: 'float32',
    graphDTypes: half ? ['float32', 'float16'] : ['float32'],
    force: false,
  })
  const tokenizer = await loadTokenizer(place)
  const eos = await readEndIds(place, tokenizer)
  const sizes = { positions: config.maxPositions, vocabulary: config.vocabulary }
  return { name, given: name, folder: place, tokenizer, eos, ...sizes, micro: null }
}

/** The documented gate, with limits that roundings keep. */
export const RATE: GateChoice = {
  limits: { ce: 6, diffMean: 0.001, source: 'the test', areDefaults: false },
  failureRate: 0.01,
  skipped: [],
  way: { name: 'rate' },
  note: null,
}

export function pairedWith(baseline: readonly SequenceSummary[]): GateChoice {
  return { ...RATE, way: { name: 'paired', baselineOf: () => baseline, source: 'the test' } }
}

export interface DecodingRequest extends Partial<Omit<DecodersSuiteOptions, 'pool' | 'models' | 'cwd'>> {
  readonly reference?: string
  readonly targets?: readonly string[]
  readonly kinds?: readonly InProcessKind[]
  readonly gate?: GateChoice
  readonly run?: Partial<RunRequest>
}

/** Judges a decoder in this process. */
export async function judgeDecoders(
  folder: string,
  model: DecoderModel,
  decoding: DecodingRequest = {},
): Promise<RunOutcome> {
  const { reference = 'ort:cpu', targets = ['ort:cpu,optimization=disabled'], kinds, gate = RATE, run } = decoding
  const pool = inProcessPool(folder, kinds)
  const plan = { model, reference: testTarget(reference), targets: targets.map(testTarget), gate }
  const options: DecodersSuiteOptions = {
    ...decodingOptions(folder, decoding),
    pool,
    models: [plan],
    all: false,
    tokensOnly: false,
    transcripts: false,
    log: null,
    ...suiteParts(decoding),
  }
  try {
    return await runSuites(folder, [decodersSuite(options)], run)
  } finally {
    await pool.close()
  }
}

/** Learns what noise is normal: metric files in the folder `metrics`. */
export async function learnBaseline(
  folder: string,
  model: DecoderModel,
  baseline: string,
  decoding: DecodingRequest = {},
): Promise<RunOutcome> {
  const { reference = 'ort:cpu', kinds, run } = decoding
  const pool = inProcessPool(folder, kinds)
  mkdirSync(join(folder, 'metrics'), { recursive: true })
  const suite = baselineSuite({
    ...decodingOptions(folder, decoding),
    ...suiteParts(decoding),
    pool,
    models: [{ model, reference: testTarget(reference) }],
    baseline: testTarget(baseline),
    folder: join(folder, 'metrics'),
  })
  try {
    return await runSuites(folder, [suite], run)
  } finally {
    await pool.close()
  }
}

function suiteParts(decoding: DecodingRequest) {
  const { reference: _r, targets: _t, kinds: _k, gate: _g, run: _run, ...parts } = decoding
  return parts
}

function decodingOptions(folder: string, { prompts }: DecodingRequest): Omit<DecodingOptions, 'pool'> {
  const exports = new OnnxExports()
  const cacheFolder = join(folder, '.assay', 'cache')
  return {
    cwd: folder,
    shapes: { batchSizes: [2], promptLengths: [8], newTokens: [6] },
    tokensPerSequence: 12,
    topK: 20,
    keep: 'top',
    prompts: prompts ?? new PromptBatches({ path: null, seed: 0, cacheFolder, digests: exports.digests }),
    exports,
    store: null,
    imports: null,
    saved: null,
    computes: true,
    areDefaults: false,
  }
}
