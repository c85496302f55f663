import { StageError } from '../../domain/errors.ts'
import type { TensorSink, TensorSource, Trace } from '../../domain/tensor.ts'
import { decodeBigInts } from '../../tensors/decode.ts'
import type { DecodeRequest, DecodeStep, Session } from '../contract.ts'
import type { DecodeStartParams, DecodeStepParams } from '../protocol/messages.ts'
import type { Channel } from './channel.ts'
import { receiveInputs } from './receive.ts'
import { sendStep } from './send-step.ts'

/** What the sessions of a worker decode, each one batch at a time. */
export class Decodings {
  readonly #bySession = new Map<number, Decoding>()

  async start(
    channel: Channel,
    session: Session | undefined,
    { id, params }: { readonly id: number; readonly params: DecodeStartParams },
  ): Promise<object> {
    const inputs = await receiveInputs(channel, id, params.values)
    await this.end(params.session)
    if (!session) throw failed(`there is no session ${params.session}`)
    if (!session.decode) throw failed('this runtime does not decode')
    this.#bySession.set(params.session, new Decoding(session, params, await promptOf(inputs)))
    return {}
  }

  async step(sink: TensorSink, params: DecodeStepParams): Promise<object> {
    const decoding = this.#bySession.get(params.session)
    if (!decoding) throw failed('decode.step without decode.start, or after its last step')
    const step = await decoding.next(params)
    if (decoding.isOver(step)) await this.end(params.session)
    return sendStep(step, params.at, sink)
  }

  async end(session: number): Promise<void> {
    const decoding = this.#bySession.get(session)
    this.#bySession.delete(session)
    await decoding?.steps.return()
  }
}

class Decoding {
  readonly steps: AsyncGenerator<DecodeStep, void>
  readonly #newTokens: number
  #count = 0
  /** What the host wants of the step that is computed now. */
  #asked: Pick<DecodeStepParams, 'force' | 'at'> = {}

  constructor(session: Session, { newTokens, eos, keep }: DecodeStartParams, prompt: Prompt) {
    this.#newTokens = newTokens
    this.steps = session.decode!({
      ...prompt,
      newTokens,
      eos,
      force: () => this.#asked.force,
      keep: keep === 'full' ? keep : { topK: keep.topK, at: () => this.#asked.at },
    })
  }

  async next(asked: DecodeStepParams): Promise<DecodeStep> {
    if (asked.step !== this.#count) throw failed(`step ${asked.step} was asked for, expected ${this.#count}`)
    this.#asked = asked
    const { value } = await this.steps.next()
    if (!value) throw failed('there is no further step: every sequence has ended')
    this.#count++
    return value
  }

  isOver({ sequences }: DecodeStep): boolean {
    return this.#count >= this.#newTokens || sequences.every((sequence) => sequence === null || sequence.ended)
  }
}

type Prompt = Pick<DecodeRequest, 'ids' | 'mask' | 'positions'>

async function promptOf({ tensors }: Trace): Promise<Prompt> {
  const [ids, mask, positions] = ['ids', 'mask', 'positions'].map((name) => tensors.get(name))
  if (!ids || !mask) throw failed('decode.start came without ids and mask')
  const rows = { ids: await rowsOf(ids), mask: await rowsOf(mask) }
  return positions ? { ...rows, positions: await rowsOf(positions) } : rows
}

async function rowsOf({ name, dtype, shape, chunks }: TensorSource): Promise<number[][]> {
  const [batch = 0, width = 0] = shape
  if (shape.length !== 2) throw failed(`${name} have shape (${shape.join(', ')}), expected (batch, prompt length)`)
  const numbers: number[] = []
  for await (const bytes of chunks()) {
    for (const value of decodeBigInts(dtype, bytes, 0, bytes.length / 8)) numbers.push(Number(value))
  }
  return Array.from({ length: batch }, (_, i) => numbers.slice(i * width, (i + 1) * width))
}

function failed(message: string): StageError {
  return new StageError('run', message)
}
