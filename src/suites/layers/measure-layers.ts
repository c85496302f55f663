import type { PaddingMask } from '../../compare/layers/real-positions.ts'
import type { Target } from '../../domain/target.ts'
import type { Trace } from '../../domain/tensor.ts'
import { folderDigest } from '../../models/hugging-face/model-folder.ts'
import type { Judgement, Lab } from '../../runs/contract.ts'
import { decodeBigInts } from '../../tensors/decode.ts'
import { readWhole } from '../../tensors/read-whole.ts'
import { prepareFolderInputs } from '../tensors/folder-inputs.ts'
import type { PreparedInputs } from '../tensors/inputs.ts'
import { warmUp } from '../tensors/sides.ts'
import { type CaseCsv, openCsv, writeWhile } from './csv/case-csv.ts'
import { seeForward } from './csv/see-shapes.ts'
import { describeLayers, type MeasuredRun } from './describe-layers.ts'
import { replayModules } from './judging/module-replay.ts'
import { prepareJudging } from './judging/prepare-judging.ts'
import { type PairRequest, sinkInto, sizeOf, taskOf } from './pair-tasks.ts'
import { PairedStreams } from './paired-streams.ts'
import { drawPrompts } from './prompted/draw-prompts.ts'
import { takePrompts } from './prompted/prompt-inputs.ts'
import { isPrompted, type PromptedCase } from './prompted/prompted-case.ts'
import { layerTaps, requireBaseline, requireSides, SIDES } from './sides.ts'
import type { LayersCase, LayersSuiteContext } from './suite.ts'

/** Runs both sides at once on the same inputs and measures what each layer gives while they compute. */
export async function measureLayers(c: LayersCase, lab: Lab, options: LayersSuiteContext): Promise<Judgement> {
  warmUp(options.pool, [c.referenceTarget, c.underTest])
  const { trace, measurements } = await prepareInputs(c, lab, options)
  const mask = await readMask(trace)
  const title = 'measure every layer on both sides'
  const request = { c, lab, options, inputs: trace, mask }
  const csv = openCsv(c, sizeOf(request), options)
  await csv?.announce(() => seeForward(request))
  const measured = await writeWhile(csv, () => measurePair({ ...request, title, csv }))
  const judging = await prepareJudging({
    judgedBy: options.judgedBy,
    measureBaseline: (baseline) => measureBaseline(request, baseline),
    replay: () => replayModules(request),
  })
  return describeLayers(c, measured, measurements, lab, judging)
}

type MeasuredInputs = Pick<PreparedInputs, 'trace' | 'measurements'>

async function prepareInputs(c: LayersCase, lab: Lab, options: LayersSuiteContext): Promise<MeasuredInputs> {
  if (isPrompted(c)) return preparePrompts(c, lab, options)
  return prepareFolderInputs({ c, lab, options, digest: await folderDigest(c.path, options.digests) })
}

async function preparePrompts(c: PromptedCase, lab: Lab, options: LayersSuiteContext): Promise<MeasuredInputs> {
  await requireSides(c, options)
  const { padded, measurements } = await drawPrompts(c, lab, options)
  return { trace: await takePrompts(padded, { c, lab, options }), measurements }
}

/** The reference computes once more, beside another trusted target. */
async function measureBaseline(request: PairRequest, baseline: Target): Promise<MeasuredRun> {
  await requireBaseline(request.options, baseline)
  const title = `measure every layer on the baseline ${baseline.name}`
  return measurePair({ ...request, c: { ...request.c, underTest: baseline }, title })
}

interface TitledPair extends PairRequest {
  readonly title: string
  readonly csv?: CaseCsv | null
}

async function measurePair(request: TitledPair): Promise<MeasuredRun> {
  const { c, lab, options, mask, title, csv } = request
  const versions = (await requireSides(c, options)).map(({ version }) => version)
  let measured: MeasuredRun | undefined
  await lab.step({ title, stage: 'run', key: null, files: false }, async () => {
    let streams = new PairedStreams({ mask })
    const tasks = SIDES.map((side) => taskOf(request, side, layerTaps(options)))
    const { value: runs, retried } = await options.pool.captureTogether(tasks, () => {
      csv?.files.start()
      streams = new PairedStreams({ mask, elements: csv?.files.sinkOf(0) })
      return sinkInto(streams)
    })
    const tensors = streams.tensors.map((tensor) => ({ ...tensor, step: 0 }))
    measured = { tensors, runs, versions, retried, timing: 'run_ms', listed: csv?.listPath }
  })
  return measured!
}

/** null: the model takes no mask, so nothing is padding. */
export async function readMask({ tensors }: Trace): Promise<PaddingMask | null> {
  const source = tensors.get('attention_mask')
  const [batch, length] = source?.shape ?? []
  if (source?.dtype !== 'int64' || batch === undefined || length === undefined) return null
  const values = decodeBigInts('int64', await readWhole(source), 0, batch * length)
  return Array.from({ length: batch }, (_, row) => Array.from(values.slice(row * length, (row + 1) * length), Number))
}
