import { UsageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { Case, Judgement, Lab, Suite } from '../../runs/contract.ts'
import type { Pool } from '../../runtimes/pool.ts'
import type { DecoderModel } from './decoder-model.ts'
import type { GateChoice } from './gate-choice.ts'
import { judgeDecoder } from './judge-decoder.ts'
import type { OnnxExports } from './onnx-exports.ts'
import type { PromptDesk } from './prompt-desk.ts'
import { batchesOf, type DecoderShape, documentedId, type ShapeLists, scopeOf, shapesOf } from './shapes.ts'
import type { TraceStore } from './trace-store.ts'
import type { ValidationInfo } from './validation-info/validation-info.ts'

/** How decoders are decoded, whoever asks. */
export interface DecodingOptions {
  readonly cwd: string
  readonly shapes: ShapeLists
  readonly tokensPerSequence: number
  readonly topK: number
  readonly keep: 'top' | 'full'
  readonly prompts: PromptDesk
  readonly pool: Pool
  readonly exports: OnnxExports
  /** Traces of the reference from earlier; null: none are looked for. */
  readonly store: TraceStore | null
  /** What aiu-fms-testing-utils saved; null: it is not looked for. */
  readonly imports: ValidationInfo | null
  /** Models may be opened; otherwise only what was decoded earlier is taken. */
  readonly computes: boolean
  /** Nobody named the targets: one that is not here is skipped, not an error. */
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
  readonly reproduce: (id: string) => string
}

/** What is done with one model. */
export interface ModelPlan {
  readonly model: DecoderModel
  readonly reference: Target
  readonly targets: readonly Target[]
  readonly gate: GateChoice
}

export interface DecoderCase extends Case {
  readonly plan: ModelPlan
  readonly underTest: Target
  readonly shape: DecoderShape
  readonly batches: number
}

/** Text-generation models: tokens, then logits against what noise explains. */
export function decodersSuite(options: DecodersSuiteOptions): Suite {
  const cases = new Map<string, DecoderCase>()
  return {
    name: 'decoders',
    async *collect() {
      for (const plan of options.models) {
        for (const c of casesOf(plan, options)) {
          cases.set(c.id, c)
          yield c
        }
      }
    },
    judge: (c: Case, lab: Lab): Promise<Judgement> => judgeDecoder(cases.get(c.id)!, lab, options),
  }
}

function* casesOf(plan: ModelPlan, options: DecodersSuiteOptions): Generator<DecoderCase> {
  const { model, reference, targets } = plan
  for (const shape of shapesOf(options.shapes)) {
    const scope = scopeOf(shape)
    for (const target of targets) {
      yield {
        id: `${model.name}/${scope}@${target.name}`,
        suite: 'decoders',
        model: model.name,
        scope,
        reference: reference.name,
        target: target.name,
        aliases: [documentedId(model.given, shape)],
        affinity: `${model.name}/${scope}`,
        plan,
        underTest: target,
        shape,
        batches: countedBatches(shape, options.tokensPerSequence),
      }
    }
  }
}

/** Nothing decoded is nothing judged. */
export function countedBatches(shape: DecoderShape, tokensPerSequence: number): number {
  const batches = batchesOf(shape, tokensPerSequence)
  if (batches > 0) return batches
  throw new UsageError(
    'shape',
    `--max-new-tokens ${shape.newTokens} is more than --tokens-per-sequence ${tokensPerSequence}, so no batch fits; raise the second`,
  )
}
