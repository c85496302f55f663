import { isDType } from '../../domain/dtype.ts'
import type { Target } from '../../domain/target.ts'
import type { TensorSink, TensorSpec, Trace, TraceValue, ValueSpec } from '../../domain/tensor.ts'
import type { ModelRun, Session } from '../contract.ts'
import { plainWords } from './create-session.ts'
import { decodeWith } from './decode.ts'
import type { OnnxRuntime, OrtSession, OrtSessionOptions, OrtTensor, OrtValueMetadata } from './onnxruntime.ts'
import { placeOutputs, takePlaced } from './output-memory.ts'
import { ORT_SCHEMA } from './schema.ts'
import { outputBytes, toOrtTensor } from './tensors.ts'

/** The options of a target as onnxruntime takes them; nothing is left to its defaults. */
export function sessionOptions(target: Target): OrtSessionOptions {
  const options = { ...ORT_SCHEMA.options, ...target.options }
  const deterministic = options.deterministic === 'true'
  return {
    executionProviders: [target.device],
    graphOptimizationLevel: options.optimization ?? 'all',
    intraOpNumThreads: Number(options.threads),
    interOpNumThreads: 1,
    executionMode: 'sequential',
    logSeverityLevel: 3,
    extra: { session: deterministic ? { use_deterministic_compute: '1' } : {} },
  }
}

/** Edited bytes keep their weights in the original model's folder. */
export function withFolder(options: OrtSessionOptions, folder: string): OrtSessionOptions {
  const session = { ...options.extra.session, model_external_initializers_file_folder_path: folder }
  return { ...options, extra: { session } }
}

export function describeOptions(options: OrtSessionOptions): Record<string, string> {
  return {
    executionProvider: options.executionProviders.join(', '),
    threads: String(options.intraOpNumThreads),
    optimization: options.graphOptimizationLevel,
    deterministic: String(options.extra.session.use_deterministic_compute === '1'),
  }
}

/** `fillsOutputs`: it can write outputs to memory that it is given. */
export function wrapSession(
  ort: OnnxRuntime,
  session: OrtSession,
  detail: Record<string, string>,
  fillsOutputs = false,
): Session {
  const inputs = specsOf(session.inputNames, () => session.inputMetadata)
  const outputs = specsOf(session.outputNames, () => session.outputMetadata)
  return {
    inputs: inputs.map(withoutEmptyShape),
    outputs: outputs.map(withoutEmptyShape),
    detail,
    run: (given, sink, _logs, shapes, stays) =>
      runSession(ort, session, given, sink, fillsOutputs ? { shapes, stays } : {}),
    decode: (request) =>
      decodeWith(ort, (feeds, names) => runNamed(session, feeds, names), { inputs, outputs }, request),
    close: () => session.release(),
  }
}

type Metadata = readonly OrtValueMetadata[] | undefined

function specsOf(names: readonly string[], read: () => Metadata): ValueSpec[] {
  const metadata = orUndefined(read)
  return names.map((name, i) => specOf(name, metadata?.[i]))
}

/** The WebGL backend throws when it is asked. */
function orUndefined(read: () => Metadata): Metadata {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Of a value that is no tensor, onnxruntime tells only that; before 1.21 it tells nothing at all. */
function specOf(name: string, metadata: OrtValueMetadata | undefined): ValueSpec {
  if (metadata?.isTensor === false) return { name, kind: 'sequence', dtype: null, shape: null }
  const dtype = metadata?.type !== undefined && isDType(metadata.type) ? metadata.type : null
  return { name, kind: 'tensor', dtype, shape: metadata?.shape?.map(knownDim) ?? null }
}

/** onnxruntime tells an input of no declared shape and a scalar alike, and takes any shape for both. */
function withoutEmptyShape(spec: ValueSpec): ValueSpec {
  return spec.shape?.length === 0 ? { ...spec, shape: null } : spec
}

/** onnxruntime-web gives an open dimension as -1 in 32 unsigned bits. */
function knownDim(dim: number | string): number | string | null {
  if (dim === '') return null
  return typeof dim === 'number' && (dim < 0 || dim > 0x7fffffff) ? null : dim
}

async function runSession(
  ort: OnnxRuntime,
  session: OrtSession,
  inputs: Trace,
  sink: TensorSink,
  known: KnownOutputs,
): Promise<ModelRun> {
  const feeds: Record<string, OrtTensor> = {}
  for (const [name, source] of inputs.tensors) feeds[name] = await toOrtTensor(ort, source)
  const startedAt = performance.now()
  const outputs = await runPlaced(ort, session, feeds, known)
  const durationMs = performance.now() - startedAt
  const values: TraceValue[] = []
  // A model may list an output twice.
  for (const name of new Set(session.outputNames)) {
    const output = outputs[name]
    if (!output) continue
    await sendOutput(name, output, sink)
    values.push({ name, kind: 'tensor', length: 1 })
  }
  return { durationMs, values }
}

/** What is known of outputs before the run, and whether they are kept after it. */
interface KnownOutputs {
  readonly shapes?: readonly TensorSpec[] | undefined
  readonly stays?: boolean | undefined
}

type Feeds = Readonly<Record<string, OrtTensor>>

/** An output of another shape than expected has no place in the memory for it. */
async function runPlaced(ort: OnnxRuntime, session: OrtSession, feeds: Feeds, { shapes = [], stays }: KnownOutputs) {
  if (shapes.length === 0) return runNamed(session, feeds)
  const places = placeOutputs(ort, session.outputNames, shapes, stays)
  const given = await session.run(feeds, places).catch(() => null)
  return (given && takePlaced(places, given)) ?? runNamed(session, feeds)
}

/** Without names: all outputs. */
async function runNamed(session: OrtSession, feeds: Feeds, names?: readonly string[]) {
  const ran = names ? session.run(feeds, names) : session.run(feeds)
  return ran.catch((error: unknown) => {
    throw new Error(plainWords(error instanceof Error ? error.message : String(error)), { cause: error })
  })
}

async function sendOutput(name: string, output: OrtTensor, sink: TensorSink): Promise<void> {
  if (!isDType(output.type)) throw new Error(`output "${name}" has the unknown type ${output.type}`)
  await sink({ name, dtype: output.type, shape: output.dims, offset: 0, last: true, bytes: outputBytes(output) })
}
