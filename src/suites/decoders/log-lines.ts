import type { DecodedBatch } from './decode-batches.ts'
import { areTokensEqual, type DecodedBatches } from './decoded-batches.ts'
import type { GateOutcome } from './gates/gate-choice.ts'
import type { DecoderCase } from './suite.ts'

const RANK = '[ 0/ 1]: '

/** What the lines tell of a case. */
interface LoggedCase extends Pick<DecoderCase, 'shape'> {
  readonly plan: { readonly model: Pick<DecoderCase['plan']['model'], 'given' | 'micro'> }
  readonly underTest: Pick<DecoderCase['underTest'], 'name'>
}

/** What aiu-fms-testing-utils prints while it tests a decoder, with the target's name for its device. */
export class LogLines {
  readonly #say: ((line: string) => void) | null
  readonly #c: LoggedCase
  #isLevelSaid = false

  constructor(say: ((line: string) => void) | null, c: LoggedCase) {
    this.#say = say
    this.#c = c
  }

  #line(text: string): void {
    this.#say?.(`${RANK}${text}`)
  }

  begin(): void {
    const { plan, shape, underTest } = this.#c
    const { batchSize, promptLength, newTokens } = shape
    const micro = plan.model.micro === null ? 'False' : 'True'
    this.#line(
      `testing model=${plan.model.given}, batch_size=${batchSize}, seq_length=${promptLength}, max_new_tokens=${newTokens}, micro_model=${micro}`,
    )
    this.#line(`${underTest.name} warmup`)
  }

  batch({ index, reference, followers }: DecodedBatch, decoded: DecodedBatches): void {
    const [target] = followers
    const device = this.#c.underTest.name
    if (index === 0) {
      const compileMs = target?.compileMs ?? 0
      this.#line(`PT compile complete, took ${(compileMs / 1000).toFixed(3)}s`)
      if (reference.cached) this.#line('cpu validation info found for seed=0 -- reusing it')
      this.#line('cpu validation info extracted for validation level 0 and validation level 1 (iter=0)')
      this.#line(`${device} validation info extracted for validation level 0`)
      this.#sayLevel(decoded)
    } else {
      this.#line(`cpu validation info extracted for validation level 1 - iter=${index}`)
    }
    this.#line(`${device} validation info extracted for validation level 1 - iter=${index}`)
  }

  #sayLevel(decoded: DecodedBatches): void {
    if (this.#isLevelSaid) return
    this.#isLevelSaid = true
    const level = areTokensEqual(decoded)
      ? 'passed validation level 0, but validation level 1 is always tested'
      : 'failed validation level 0, testing validation level 1'
    this.#line(level)
  }

  end({ rates }: Pick<GateOutcome, 'rates'>): void {
    const rateOf = (metric: string) => pythonNumber(rates.rates.find((rate) => rate.metric === metric)!.rate)
    this.#line(`mean diff failure rate: ${rateOf('diff_mean')}`)
    this.#line(`cross entropy loss failure rate: ${rateOf('ce')}`)
  }
}

/** `0.0`, `1e-05`, `nan`, where we would write 0, 0.00001 and NaN: whoever reads these lines knows the others. */
function pythonNumber(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (Number.isInteger(value)) return `${value}.0`
  if (Math.abs(value) >= 1e-4) return String(value)
  return value.toExponential().replace(/e-(\d)$/, 'e-0$1')
}
