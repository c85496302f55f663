import type { DType } from '../../domain/dtype.ts'
import type { Logits } from '../../domain/logits.ts'
import { elementCount, formatShape } from '../../domain/tensor.ts'
import { codeValues } from '../../tensors/codes.ts'
import type { DecodeRequest, DecodeStep, Session } from '../contract.ts'
import { Course, type Fed } from '../decoder/course.ts'
import { type DecoderPorts, decoderPorts, type Port } from '../decoder/ports.ts'
import { checkAt, checkForced, checkPrompt, checkTokens, failed, refuseUnheard } from '../decoder/prompt.ts'
import { readRow } from '../decoder/read-logits.ts'
import type { OnnxRuntime, OrtTensor } from './onnxruntime.ts'
import { emptyTensor, wholeTensor } from './tensors.ts'

type Feeds = Readonly<Record<string, OrtTensor>>

/** Runs a session with these tensors and gives those that are named. */
export type RunNamed = (feeds: Feeds, names: readonly string[]) => Promise<Feeds>

/** Greedy decoding with an exported decoder, whose prompt is checked before the first step is pulled. */
export function decodeWith(
  ort: OnnxRuntime,
  run: RunNamed,
  { inputs, outputs }: Pick<Session, 'inputs' | 'outputs'>,
  request: DecodeRequest,
): AsyncGenerator<DecodeStep, void> {
  checkPrompt(request)
  const ports = decoderPorts(inputs, outputs)
  refuseUnheard(request, ports)
  if (ports.vocabulary !== null) checkTokens(request.ids.flat(), ports.vocabulary, 'ids')
  return stepsOf(new CachedSession(ort, run, ports, request.ids.length), request, ports)
}

async function* stepsOf(
  session: CachedSession,
  request: DecodeRequest,
  { caches, vocabulary }: DecoderPorts,
): AsyncGenerator<DecodeStep, void> {
  const course = new Course(request, caches.length > 0)
  const { ids, keep, newTokens } = request
  try {
    for (let step = 0; step < newTokens && !course.isOver; step++) {
      const forced = request.force?.(step)
      const at = keep === 'full' ? undefined : keep.at?.(step)
      checkForced(forced, ids.length, vocabulary)
      const { rows, durationMs } = await session.compute(course.fed)
      const width = rows[0]!.length
      if (step === 0) checkTokens(ids.flat(), width, 'ids')
      checkForced(forced, ids.length, width)
      checkAt(at, ids.length, width)
      const sequences = rows.map((row, i) =>
        course.hasEnded(i) ? null : readRow(row, request, forced?.[i] ?? null, at?.[i]),
      )
      course.append(sequences)
      yield { step, durationMs, sequences }
    }
  } finally {
    session.forget()
  }
}

/** A session with what it has cached so far, which stays onnxruntime's from one step to the next. */
class CachedSession {
  readonly #ort: OnnxRuntime
  readonly #run: RunNamed
  readonly #ports: DecoderPorts
  #cached: Feeds
  #isFirst = true

  constructor(ort: OnnxRuntime, run: RunNamed, ports: DecoderPorts, batch: number) {
    this.#ort = ort
    this.#run = run
    this.#ports = ports
    const empty = ports.caches.map(({ past, dtype, emptyShape }) => {
      return [past, emptyTensor(ort, dtype, emptyOnly(past, emptyShape(batch)))] as const
    })
    this.#cached = Object.fromEntries(empty)
  }

  async compute(fed: Fed): Promise<{ rows: Logits[]; durationMs: number }> {
    const { caches, logits } = this.#ports
    const feeds = { ...this.#feeds(fed), ...this.#cached }
    const startedAt = performance.now()
    const outputs = await this.#run(feeds, [logits, ...caches.map(({ present }) => present)])
    const durationMs = performance.now() - startedAt
    this.forget()
    this.#isFirst = false
    this.#cached = Object.fromEntries(caches.map(({ past, present }) => [past, outputs[present]!]))
    return { rows: lastRows(outputs[logits]!, fed.ids.length), durationMs }
  }

  /** Lets go of what is cached, also where it lies outside of JavaScript's memory. */
  forget(): void {
    for (const tensor of Object.values(this.#cached)) tensor.dispose?.()
    this.#cached = {}
  }

  #feeds({ ids, mask, positions }: Fed): Feeds {
    const { ids: idsPort, mask: maskPort, positions: positionsPort, branch, keep } = this.#ports
    const feeds: Record<string, OrtTensor> = {}
    const feed = (port: Port | null, rows: readonly (readonly number[])[], shape: readonly number[]) => {
      if (port) feeds[port.name] = wholeTensor(this.#ort, port.dtype, rows, shape)
    }
    const batch = ids.length
    feed(idsPort, ids, [batch, ids[0]!.length])
    feed(maskPort, mask, [batch, mask[0]!.length])
    feed(positionsPort, positions, [batch, positions[0]!.length])
    feed(branch, [[this.#isFirst ? 0 : 1]], branch?.rank === 0 ? [] : [1])
    feed(keep, [[1]], keep?.rank === 0 ? [] : [1])
    return feeds
  }
}

/** A cache of which no size is open cannot be empty; zeros in it would be taken for what was said before. */
function emptyOnly(name: string, shape: readonly number[]): readonly number[] {
  if (elementCount(shape) === 0) return shape
  throw failed(`input "${name}" has shape ${formatShape(shape)} before the first step, expected an empty cache`)
}

/** The logits of the last position, a row for every sequence. */
function lastRows({ type, dims, data }: OrtTensor, batch: number): Logits[] {
  const [found, length = 0, width = 0] = dims
  if (dims.length !== 3 || found !== batch || length === 0 || width === 0) {
    throw failed(`the logits have shape ${formatShape(dims)}, expected (${batch}, positions, vocabulary)`)
  }
  return Array.from({ length: batch }, (_, i) => logitsIn(type, data, ((i + 1) * length - 1) * width, width))
}

/** Half precision fits into float32 exactly. */
function logitsIn(type: string, data: OrtTensor['data'], start: number, width: number): Logits {
  const end = start + width
  if (data instanceof Float32Array || data instanceof Float64Array) return data.subarray(start, end)
  if (type === ('float16' satisfies DType) && ArrayBuffer.isView(data)) {
    const codes = new Uint16Array(data.buffer, data.byteOffset + 2 * start, width)
    const values = codeValues('float16')
    return Float32Array.from(codes, (code) => values[code]!)
  }
  throw failed(`the logits are ${type}, expected float32, float16 or float64`)
}
