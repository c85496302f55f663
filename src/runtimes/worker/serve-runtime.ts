import { StageError } from '../../domain/errors.ts'
import type { TensorSink, TensorSource } from '../../domain/tensor.ts'
import type { Stage } from '../../domain/verdict.ts'
import type { ModelRun, Runtime, Session } from '../contract.ts'
import { type HostRequest, PROTOCOL, type RunFiles, type RunParams } from '../protocol/messages.ts'
import { wireMeasured } from '../protocol/paired.ts'
import { splitTensor } from '../protocol/split-tensor.ts'
import type { Channel } from './channel.ts'
import { checkInputs } from './check-inputs.ts'
import { Decodings } from './decodings.ts'
import type { HeldOutputs } from './held-outputs.ts'
import { LastError } from './last-error.ts'
import type { ModelSource } from './model-source.ts'
import { HostGone, receiveInputs } from './receive.ts'

/** How a worker reaches the host's files, if it does. */
export interface FileAccess {
  open(files: RunFiles): OpenFiles
}

/** The files of one run. */
interface OpenFiles {
  /** The inputs that lie there. */
  read(): ReadonlyMap<string, TensorSource>
  /** Writes what a run gives to a file, which the host reads as a trace. */
  runInto(run: (sink: TensorSink) => Promise<ModelRun>): Promise<ModelRun>
  close(): void
}

/** What workers on this machine can do besides. */
export interface LocalAbilities {
  readonly files?: FileAccess
  readonly held?: HeldOutputs
}

const METHOD_NOT_FOUND = -32601
const FAILED = -32000

/** Serves a runtime to the host over a channel, until that ends. */
export async function serveRuntime<Model>(
  runtime: Runtime<Model>,
  channel: Channel,
  models: ModelSource<Model>,
  local: LocalAbilities = {},
): Promise<void> {
  const sessions = new Map<number, Session>()
  const decodings = new Decodings()
  const methods: Methods = {
    hello: ({ params }) => hello(runtime, params.device, local),
    open: (request) => open(runtime, channel, models, sessions, request),
    run: (request) => run(channel, sessions, local, request),
    'decode.start': (request) => decodings.start(channel, sessions.get(request.params.session), request),
    'decode.step': (request) => decodings.step(sender(channel, request.id), request.params),
    close: async ({ params }) => {
      await decodings.end(params.session)
      return close(sessions, params.session)
    },
    weights: ({ params }) => weights(runtime, sessions.get(params.session)),
    form: (request) => form(runtime, channel, models, request),
    'blob.has': async ({ params }) => ({ has: models.has(params.digest) }),
    'blob.put': async (request) => {
      await models.put(channel, request)
      return {}
    },
  }
  for (let frame = await channel.read(); frame; frame = await channel.read()) {
    const request = frame.header as HostRequest
    if (request.id === undefined) continue
    try {
      await channel.write({ jsonrpc: '2.0', id: request.id, result: await answer(methods, request) })
    } catch (error) {
      if (error instanceof HostGone) return
      await channel.write({ jsonrpc: '2.0', id: request.id, error: wireError(error, request.method) })
    }
  }
}

type Request<Method extends HostRequest['method']> = Extract<HostRequest, { readonly method: Method }>
/** What runs in Node is ready when it is opened, so nobody asks it to warm up. */
type Served = Exclude<HostRequest['method'], 'warm' | 'decode.warm'>
type Methods = { [Method in Served]: (request: Request<Method>) => Promise<unknown> }

async function answer(methods: Methods, request: HostRequest): Promise<unknown> {
  const { method } = request
  if (!isServed(methods, method)) throw new UnknownMethod(method)
  return methods[method](request as never)
}

function isServed(methods: Methods, method: string): method is Served {
  return Object.hasOwn(methods, method)
}

class UnknownMethod extends Error {
  constructor(method: string) {
    super(`unknown method "${method}"`)
  }
}

async function hello(runtime: Runtime<never>, device: string, { files, held }: LocalAbilities): Promise<unknown> {
  const probe = await runtime.probe(device)
  if (!probe.available) return { protocols: [PROTOCOL], runtime: runtime.name, ...probe }
  const { capabilities, ...info } = probe
  const { dtypes, outputDtypes, ...others } = capabilities
  const can = { ...others, files: files !== undefined, measures: held !== undefined }
  return { protocols: [PROTOCOL], runtime: runtime.name, ...info, dtypes, outputDtypes, capabilities: can, limits: {} }
}

let lastSession = 0

async function open<Model>(
  runtime: Runtime<Model>,
  channel: Channel,
  models: ModelSource<Model>,
  sessions: Map<number, Session>,
  request: Request<'open'>,
) {
  const { model: _named, ...options } = request.params
  const model = await models.fetch(channel, request)
  const startedAt = performance.now()
  const session = await runtime.open(model, options).finally(() => models.tidy())
  const durationMs = performance.now() - startedAt
  lastSession++
  sessions.set(lastSession, session)
  const { inputs, outputs, detail } = session
  return { session: lastSession, inputs, outputs, detail, durationMs }
}

async function run(
  channel: Channel,
  sessions: Map<number, Session>,
  { files: access, held }: LocalAbilities,
  request: Request<'run'>,
) {
  const { session: id, values, logs, files, beside }: RunParams = request.params
  const open = files && access?.open(files)
  try {
    const inputs = await receiveInputs(channel, request.id, values, open?.read())
    const session = sessions.get(id)
    if (!session) throw new StageError('run', `there is no session ${id}`)
    checkInputs(session.inputs, inputs)
    if (beside && held) {
      const stays = 'hold' in beside
      return wireMeasured(await held.run(beside, (sink) => session.run(inputs, sink, logs, beside.shapes, stays)))
    }
    if (!open) return await session.run(inputs, sender(channel, request.id), logs)
    return await open.runInto((sink) => session.run(inputs, sink, logs, files?.shapes ?? files?.expected))
  } finally {
    open?.close()
  }
}

async function weights({ name }: Runtime<never>, session: Session | undefined): Promise<unknown> {
  if (!session?.weights) throw new StageError('run', `${name} does not list weights`)
  return { weights: await session.weights() }
}

/** Sends tensors as the notifications that belong to a request. */
function sender(channel: Channel, request: number): TensorSink {
  return async (chunk) => {
    for (const part of splitTensor(chunk, chunk.bytes)) {
      const place = { offset: chunk.offset + part.offset, last: chunk.last && part.last }
      const { name, dtype, shape } = part
      await channel.write(
        { jsonrpc: '2.0', method: 'tensor', params: { request, name, dtype, shape, ...place } },
        part.bytes,
      )
    }
  }
}

async function close(sessions: Map<number, Session>, id: number): Promise<unknown> {
  const session = sessions.get(id)
  sessions.delete(id)
  await session?.close()
  return {}
}

async function form<Model>(
  runtime: Runtime<Model>,
  channel: Channel,
  models: ModelSource<Model>,
  request: Request<'form'>,
) {
  const { model: _named, ...options } = request.params
  const model = await models.fetch(channel, request)
  if (!runtime.writeIr) throw new UnknownMethod(request.method)
  return { file: await runtime.writeIr(model, options).finally(() => models.tidy()) }
}

const STAGE_OF: Readonly<Record<string, Stage>> = {
  hello: 'compile',
  open: 'compile',
  form: 'compile',
  run: 'run',
  'decode.start': 'run',
  'decode.step': 'run',
}

function wireError(error: unknown, method: string): unknown {
  if (error instanceof UnknownMethod) return { code: METHOD_NOT_FOUND, message: error.message }
  const { stage = STAGE_OF[method], detail = {} } = error instanceof StageError ? error : {}
  const data = { ...detail, stage, ends: error instanceof LastError }
  return { code: FAILED, message: error instanceof Error ? error.message : String(error), data }
}
