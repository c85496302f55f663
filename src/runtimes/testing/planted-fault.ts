import type { DType } from '../../domain/dtype.ts'
import { elementCount, type Tensor, type TensorChunk, type TensorSink } from '../../domain/tensor.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import type {
  Capabilities,
  DecodeRequest,
  DecodeStep,
  InProcessKind,
  ModelRef,
  ModelRun,
  OpenOptions,
  Probe,
  Runtime,
  Session,
} from '../contract.ts'
import { inProcess, realOrt } from './in-process-ort.ts'

/** What a runtime does wrong; all else is computed by the real one. */
export interface Fault {
  /** Why it is not here at all. */
  readonly absent?: string
  readonly capabilities?: Partial<Capabilities>
  /** Throws where it refuses the model. */
  readonly open?: (model: ModelRef, options: OpenOptions) => void
  /** Throws where it refuses to run. */
  readonly run?: () => void
  /** What it gives in place of an output; null: nothing. */
  readonly output?: (name: string, tensor: Tensor, session: FaultySession) => Tensor | null
  /** Under which name it gives an output, where that is another. */
  readonly names?: Readonly<Record<string, string>>
  /** What its device says against the work. */
  readonly warnings?: readonly string[]
  /** What it gives in place of a step. */
  readonly step?: (step: DecodeStep) => DecodeStep
  /** After so many steps it gives no more. */
  readonly steps?: number
}

interface FaultySession {
  readonly model: ModelRef
  /** How many its worker has opened, with this one. */
  readonly opened: number
}

/** onnxruntime under another name, with something wrong about it. */
export function plantedKind(name: string, fault: Fault, real: () => Runtime = realOrt): InProcessKind {
  return inProcess(name, () => faulty(name, fault, real()))
}

function faulty(name: string, fault: Fault, real: Runtime): Runtime {
  let opened = 0
  return {
    ...real,
    name,
    probe: async (device) => probeOf(name, fault, await real.probe(device)),
    open: async (model, options) => {
      const about = { model, opened: ++opened }
      fault.open?.(model, options)
      return faultySession(await real.open(model, options), fault, about)
    },
  }
}

function probeOf(name: string, { absent, capabilities }: Fault, probe: Probe): Probe {
  if (absent !== undefined) return { available: false, reason: absent }
  if (!probe.available) return probe
  const fingerprint = probe.fingerprint === null ? null : `${name} ${probe.fingerprint}`
  return { ...probe, capabilities: { ...probe.capabilities, ...capabilities }, fingerprint }
}

function faultySession(session: Session, fault: Fault, about: FaultySession): Session {
  const { warnings } = fault
  return {
    ...session,
    async run(inputs, sink, logs, shapes, stays) {
      fault.run?.()
      const withheld = new Set<string>()
      const ran = await session.run(inputs, faultySink(sink, fault, about, withheld), logs, shapes, stays)
      const values = ran.values.filter((value) => !withheld.has(value.name))
      return { ...ran, values, ...(warnings && { warnings }) } satisfies ModelRun
    },
    ...(session.decode && {
      decode: (request: DecodeRequest) => faultySteps(session, tapsWith(request, fault, about), fault),
    }),
  }
}

/** onnxruntime gives every output in one piece. */
function faultySink(
  sink: TensorSink,
  { output, names }: Fault,
  about: FaultySession,
  withheld: Set<string>,
): TensorSink {
  return async (chunk: TensorChunk) => {
    const { name, dtype, shape, bytes } = chunk
    const given = output ? output(name, { dtype, shape, bytes }, about) : { dtype, shape, bytes }
    if (given) await sink({ ...chunk, ...given, name: names?.[name] ?? name })
    else withheld.add(name)
  }
}

function tapsWith(request: DecodeRequest, fault: Fault, about: FaultySession): DecodeRequest {
  return request.taps ? { ...request, taps: faultySink(request.taps, fault, about, new Set()) } : request
}

async function* faultySteps(
  session: Session,
  request: DecodeRequest,
  { step, steps = Infinity, warnings }: Fault,
): AsyncGenerator<DecodeStep, void> {
  for await (const taken of session.decode!(request)) {
    if (taken.step >= steps) return
    yield { ...(step ? step(taken) : taken), ...(warnings && { warnings }) }
  }
}

/** A tensor with other numbers in the same place. */
export function withNumbers(tensor: Tensor, change: (value: number, place: number) => number): Tensor {
  const numbers = numbersOf(tensor)
  return { ...tensor, bytes: encodeNumbers(tensor.dtype, numbers.map(change)) }
}

function numbersOf({ dtype, shape, bytes }: Tensor): Float64Array {
  const numbers = new Float64Array(elementCount(shape))
  decodeNumbers(dtype, bytes, 0, numbers.length, numbers)
  return numbers
}

/** The same numbers in another dtype. */
export function asDType(tensor: Tensor, dtype: DType): Tensor {
  return { dtype, shape: tensor.shape, bytes: encodeNumbers(dtype, numbersOf(tensor)) }
}

/** A model that was edited or cut out, with a node of this op. */
export function hasOp(model: ModelRef, op: string): boolean {
  return 'bytes' in model && Buffer.from(model.bytes).includes(op)
}
