import { resolve } from 'node:path'
import type { TraceComparison } from '../../compare/contract.ts'
import { SkipCase, StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { Side } from '../../domain/verdict.ts'
import { folderDigest } from '../../models/hugging-face/model-folder.ts'
import type { Judgement, Lab } from '../../runs/contract.ts'
import { prepareFolderInputs } from '../tensors/folder-inputs.ts'
import type { PreparedInputs } from '../tensors/inputs.ts'
import { judgePair, type SidePair } from '../tensors/judging/judge-pair.ts'
import { keepTraces } from '../tensors/judging/judgement.ts'
import { declaredPrecision, plainRules } from '../tensors/rules.ts'
import {
  bothSides,
  type CapturedSide,
  type CaptureSetup,
  captureSide,
  compareSides,
  type SideModel,
  warmUp,
} from '../tensors/sides.ts'
import { describeModules, type ModuleFinding } from './modules.ts'
import type { FolderCase, FoldersSuiteContext } from './suite.ts'

/** A case on its way. */
interface Work {
  readonly c: FolderCase
  readonly lab: Lab
  readonly options: FoldersSuiteContext
  readonly inputs: PreparedInputs
  readonly digest: string
}

/** Runs both sides on inputs that fit the configuration and compares them; over tolerance, compares every module too. */
export async function judgeFolder(c: FolderCase, lab: Lab, options: FoldersSuiteContext): Promise<Judgement> {
  warmUp(options.pool, [c.referenceTarget, ...options.otherReferences, c.underTest])
  const digest = await folderDigest(c.path, options.digests)
  const inputs = await prepareFolderInputs({ c, lab, options, digest })
  const work = { c, lab, options, inputs, digest }
  const pair: SidePair = {
    lab,
    otherReferences: options.otherReferences,
    capture: () => bothSides(capture(work, 'reference', c.referenceTarget), capture(work, 'target', c.underTest)),
    captureAlone: () => capture(work, 'target', c.underTest, { alone: true }),
    captureOther: (reference) => capture(work, 'reference', reference),
    compare: (reference, target) => compareFolders(work, reference, target),
    explain: ({ reference }) => compareModules(work, reference),
    keep: ({ reference, target }, others) => keepTraces(lab, inputs.path, reference, target, others),
  }
  return judgePair(pair, { measurements: inputs.measurements })
}

interface CaptureOptions {
  readonly alone?: boolean
  readonly taps?: readonly string[]
}

async function capture(
  work: Work,
  side: Side,
  target: Target,
  { alone, taps }: CaptureOptions = {},
): Promise<CapturedSide> {
  const { c, options } = work
  const path = target.options.model === undefined ? c.path : resolve(options.cwd, target.options.model)
  const digest = path === c.path ? work.digest : await folderDigest(path, options.digests)
  const ref = { format: 'huggingface', path } as const
  const model: SideModel = { ref, digest, outputs: [], ...(taps && { taps }) }
  return captureSide(setupFor(work), side, target, model, alone)
}

function setupFor({ lab, options, inputs }: Work): CaptureSetup {
  const { pool, areDefaults } = options
  return { lab, pool, areDefaults, inputs: inputs.trace, inputsDigest: inputs.digest }
}

function compareFolders(work: Work, reference: CapturedSide, target: CapturedSide): Promise<TraceComparison> {
  const { c, options, inputs } = work
  const precision = declaredPrecision(c.underTest) ?? 'float32'
  const rules = plainRules({ id: c.id, overrides: options.tolerances }, precision)
  const request = { rules, target: c.underTest, generated: inputs.generated }
  return compareSides(setupFor(work), reference.trace, target.trace, request)
}

const ALL_MODULES = { taps: ['*'] }

/** Finds the first module that differs. If that fails, the verdict does not change. */
async function compareModules(work: Work, plain: CapturedSide): Promise<ModuleFinding> {
  try {
    const [reference, target] = await bothSides(
      capture(work, 'reference', work.c.referenceTarget, ALL_MODULES),
      capture(work, 'target', work.c.underTest, ALL_MODULES),
    )
    const comparison = await compareFolders(work, reference, target)
    return await describeModules(comparison, new Set(plain.trace.values.map(({ name }) => name)), work.lab)
  } catch (error) {
    if (!(error instanceof StageError) && !(error instanceof SkipCase)) throw error
    return { hint: null, measurements: { 'modules.not_compared': error.message } }
  }
}
