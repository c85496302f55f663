import type { Target } from '../../../domain/target.ts'
import { folderDigest } from '../../../models/hugging-face/model-folder.ts'
import type { PaddedBatch } from '../../../models/prompts/contract.ts'
import type { Judgement, Lab } from '../../../runs/contract.ts'
import type { Done } from '../../../runtimes/host/attempts.ts'
import { warmUp } from '../../tensors/sides.ts'
import { type CaseCsv, openCsv, writeWhile } from '../csv/case-csv.ts'
import { seeSteps } from '../csv/see-shapes.ts'
import { describeLayers, type MeasuredRun } from '../describe-layers.ts'
import type { LocalReplay } from '../judging/contract.ts'
import { replayModules } from '../judging/module-replay.ts'
import { prepareJudging } from '../judging/prepare-judging.ts'
import { type CaseRequest, layerTaps, requireBaseline, requireSides, SIDES, sideTask } from '../sides.ts'
import type { LayersSuiteContext } from '../suite.ts'
import { type ChosenTokens, chooseTokens, decodeRequest } from './choose-tokens.ts'
import { drawPrompts } from './draw-prompts.ts'
import { joinText, takePrompts } from './prompt-inputs.ts'
import type { PromptedCase } from './prompted-case.ts'
import { type ObservedSteps, StepObserver } from './step-observer.ts'

/** The reference chooses a text; then both sides go along it at once, and what each layer gives is measured step by step. */
export async function measureDecoding(c: PromptedCase, lab: Lab, options: LayersSuiteContext): Promise<Judgement> {
  warmUp(options.pool, [c.referenceTarget, c.underTest])
  await requireSides(c, options)
  const { padded, measurements } = await drawPrompts(c, lab, options)
  const request = { c, padded, lab, options }
  const text = { ...request, tokens: await choose(request) }
  const csv = openCsv(c, c.prompted.shape, options)
  await csv?.announce(() => seeSteps(text))
  const title = 'measure every layer, step by step'
  const measured = await writeWhile(csv, () => measureText({ ...text, csv }, title))
  const judging = await prepareJudging({
    judgedBy: options.judgedBy,
    measureBaseline: (baseline) => measureBaseline(text, baseline),
    replay: () => replayText(text),
  })
  const chosen = { ...measurements, 'layers.steps': text.tokens.length, 'layers.e2e_wall_ms': measured.wallMs }
  return describeLayers(c, measured, chosen, lab, judging)
}

interface TextRequest extends CaseRequest<PromptedCase> {
  readonly padded: PaddedBatch
}

export interface MeasuredText extends TextRequest {
  readonly tokens: ChosenTokens
  readonly csv?: CaseCsv | null
}

async function choose({ padded, ...request }: TextRequest): Promise<ChosenTokens> {
  const { c, lab, options } = request
  const [info] = await requireSides(c, options)
  const side = sideTask(request, 'reference')
  const task = { ...side, request: decodeRequest(padded, c.prompted.shape.newTokens) }
  const digest = await folderDigest(side.model.path, options.digests)
  return chooseTokens({ task, digest, info: info! }, lab, options.pool)
}

/** The reference goes along the text once more, beside another trusted target. */
async function measureBaseline(request: MeasuredText, baseline: Target): Promise<MeasuredRun> {
  await requireBaseline(request.options, baseline)
  const c = { ...request.c, underTest: baseline }
  return measureText({ ...request, c }, `measure every layer on the baseline ${baseline.name}, step by step`)
}

/** Layers alone are given the whole text at once. */
async function replayText({ padded, tokens, ...request }: MeasuredText): Promise<LocalReplay | { absent: string }> {
  const text = joinText(padded, tokens)
  return replayModules({ ...request, inputs: await takePrompts(text, request), mask: text.mask })
}

async function measureText(request: MeasuredText, title: string): Promise<MeasuredRun & { readonly wallMs: number }> {
  const { c, lab, options, csv } = request
  const versions = (await requireSides(c, options)).map(({ version }) => version)
  let done: Done<ObservedSteps> | undefined
  await lab.step({ title, stage: 'run', key: null, files: false }, async () => {
    done = await observe(request)
  })
  const { value, retried } = done!
  return { ...value, versions, retried, timing: 'e2e_ms', listed: csv?.listPath }
}

/** After a worker's death all begins again, with sums of its own. */
function observe({ padded, tokens, csv, ...request }: MeasuredText): Promise<Done<ObservedSteps>> {
  const { lab, options } = request
  const progress = (text: string) => lab.progress(text)
  const elements = (step: number) => csv?.files.sinkOf(step)
  const observer = new StepObserver({ mask: padded.mask, steps: tokens.length, progress, elements })
  const tasks = SIDES.map((side) => ({
    ...sideTask(request, side),
    taps: layerTaps(request.options),
    request: {
      ...decodeRequest(padded, tokens.length),
      force: (step: number) => tokens[step],
      taps: observer.sinkOf(side),
    },
  }))
  return options.pool.decode(tasks, (decodings) => {
    csv?.files.start()
    return observer.follow(decodings)
  })
}
