import type { PaddingMask } from '../../../compare/layers/real-positions.ts'
import { StageError } from '../../../domain/errors.ts'
import type { TensorSink } from '../../../domain/tensor.ts'
import type { Side } from '../../../domain/verdict.ts'
import type { Decoding } from '../../../runtimes/host/decoding.ts'
import { doTogether } from '../../../runtimes/host/do-together.ts'
import type { JointRun } from '../../../runtimes/host/joint-capture.ts'
import type { StepTensor } from '../measured-layer.ts'
import { type ElementSink, PairedStreams } from '../paired-streams.ts'
import { SIDES } from '../sides.ts'

/** What both sides gave while they decoded. */
export interface ObservedSteps {
  readonly tensors: readonly StepTensor[]
  /** Of the reference and the target. */
  readonly runs: readonly JointRun[]
  /** Both sides together, with the time that measuring took. */
  readonly wallMs: number
}

interface ObserverOptions {
  /** Of the prompts; later steps have no padding. */
  readonly mask: PaddingMask
  readonly steps: number
  readonly progress: (text: string) => void
  /** What else takes the elements of a step. */
  readonly elements: (step: number) => ElementSink | undefined
}

/** Pulls the same step of both sides at the same time and measures what their layers give meanwhile. */
export class StepObserver {
  readonly #options: ObserverOptions
  #streams = new PairedStreams({ mask: null })

  constructor(options: ObserverOptions) {
    this.#options = options
  }

  /** Takes what the layers of a side give in the step under way. */
  sinkOf(side: Side): TensorSink {
    return (chunk) => this.#streams.take(side, chunk)
  }

  /** From the start, whatever was observed before. */
  async follow(decodings: readonly Decoding[]): Promise<ObservedSteps> {
    const tensors: StepTensor[] = []
    const sides = decodings.map(() => ({ run: 0, warnings: new Set<string>() }))
    const startedAt = performance.now()
    for (let step = 0; step < this.#options.steps; step++) {
      const taken = await this.#pull(decodings, step)
      for (const [i, { durationMs, warnings = [] }] of taken.entries()) {
        sides[i]!.run += durationMs
        for (const warning of warnings) sides[i]!.warnings.add(warning)
      }
      tensors.push(...this.#streams.tensors.map((tensor) => ({ ...tensor, step })))
      if (tensors.length === 0)
        throw new StageError('run', 'neither side gave what its layers compute while it decoded')
    }
    const runs = decodings.map(({ detail, compileMs }, i) => {
      const { run, warnings } = sides[i]!
      return { detail, durationsMs: { compile: compileMs, run }, warnings: [...warnings] }
    })
    return { tensors, runs, wallMs: performance.now() - startedAt }
  }

  #pull(decodings: readonly Decoding[], step: number) {
    const { mask, steps, progress, elements } = this.#options
    progress(`step ${step + 1} of ${steps}`)
    const streams = new PairedStreams({ mask: step === 0 ? mask : null, elements: elements(step) })
    this.#streams = streams
    const pulls = decodings.map((decoding, i) => async () => {
      const { value } = await decoding.steps.next()
      if (value) return value
      throw new StageError('run', `it gave ${step} of ${steps} steps`, { side: SIDES[i]! })
    })
    return doTogether(pulls, { ended: (i) => streams.end(SIDES[i]!), failed: (error) => streams.stop(error) })
  }
}
