import type { Target } from '../../domain/target.ts'
import { combineShapes, type ShapeLists } from '../../models/prompts/decoder-shapes.ts'
import type { PromptBatches } from '../../models/prompts/prompt-batches.ts'
import type { Suite } from '../../runs/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import type { DecoderModel } from './decoder-model.ts'
import type { GateChoice } from './gates/gate-choice.ts'
import { judgeDecoder } from './judge-decoder.ts'
import type { OnnxExports } from './onnx-exports.ts'
import { type ShapeCase, shapeCase, shapesSuite } from './shape-case.ts'
import type { TraceStore } from './store/trace-store.ts'
import type { InfoWriter } from './validation-info/info-writer.ts'
import type { ValidationInfo } from './validation-info/validation-info.ts'

/** Options for decoding, shared by test and baseline. */
export interface DecodingOptions {
  readonly cwd: string
  readonly shapes: ShapeLists
  readonly tokensPerSequence: number
  readonly topK: number
  readonly keep: 'top' | 'full'
  readonly prompts: PromptBatches
  readonly pool: Pool
  readonly exports: OnnxExports
  /** Traces of the reference from earlier; null: none are looked for. */
  readonly store: TraceStore | null
  /** What aiu-fms-testing-utils saved; null: it is not looked for. */
  readonly imports: ValidationInfo | null
  /** Both sides are saved for aiu-fms-testing-utils, with all logits and past the end of sequences; null: they are not. */
  readonly saved: InfoWriter | null
  /** Models may be opened; otherwise only earlier traces are used. */
  readonly computes: boolean
  /** The targets are defaults: one that is not available is a skip, not an error. */
  readonly areDefaults: boolean
}

export interface DecodersSuiteOptions extends DecodingOptions {
  readonly models: readonly ModelPlan[]
  /** Go on although the verdict can no longer change. */
  readonly all: boolean
  readonly tokensOnly: boolean
  /** Continuations of the target on its own tokens are wanted. */
  readonly transcripts: boolean
  readonly log: ((line: string) => void) | null
}

/** What is done with one model. */
export interface ModelPlan {
  readonly model: DecoderModel
  readonly reference: Target
  readonly targets: readonly Target[]
  readonly gate: GateChoice
}

export interface DecoderCase extends ShapeCase {
  readonly plan: ModelPlan
  readonly underTest: Target
}

/** Judges text-generation models: tokens, then logits against the normal noise. */
export function decodersSuite(options: DecodersSuiteOptions): Suite {
  return shapesSuite(
    () => options.models.flatMap((plan) => casesOf(plan, options)),
    (c, lab) => judgeDecoder(c, lab, options),
  )
}

function casesOf(plan: ModelPlan, { shapes, tokensPerSequence }: DecodersSuiteOptions): DecoderCase[] {
  const { model, reference, targets } = plan
  return combineShapes(shapes).flatMap((shape) =>
    targets.map((underTest) => {
      const sides = { reference: reference.name, target: underTest.name }
      return { ...shapeCase(model, shape, sides, tokensPerSequence), plan, underTest }
    }),
  )
}
