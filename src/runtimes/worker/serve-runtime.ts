import { StageError } from '../../domain/errors.ts'
import type { Stage } from '../../domain/verdict.ts'
import { checkInputs } from '../check-inputs.ts'
import type { ModelRef, Runtime, Session } from '../contract.ts'
import { type HostRequest, type OpenParams, PROTOCOL, type RunParams } from '../protocol/messages.ts'
import { splitTensor } from '../protocol/split-tensor.ts'
import { HostGone, receiveInputs, receiveModel } from './receive.ts'
import { openSyncChannel, type SyncChannel } from './sync-channel.ts'

const METHOD_NOT_FOUND = -32601
const FAILED = -32000

/** Serves a runtime to the host on standard input and file descriptor 3, until standard input ends. */
export async function serveRuntime(runtime: Runtime): Promise<void> {
  const channel = openSyncChannel(0, 3)
  const sessions = new Map<number, Session>()
  const methods = {
    hello: (request: Request<'hello'>) => hello(runtime, request.params.device),
    open: (request: Request<'open'>) => open(runtime, channel, sessions, request),
    run: (request: Request<'run'>) => run(channel, sessions, request),
    close: (request: Request<'close'>) => close(sessions, request.params.session),
  }
  for (let frame = channel.read(); frame; frame = channel.read()) {
    const request = frame.header as HostRequest
    if (request.id === undefined) continue
    try {
      channel.write({ jsonrpc: '2.0', id: request.id, result: await answer(methods, request) })
    } catch (error) {
      if (error instanceof HostGone) break
      channel.write({ jsonrpc: '2.0', id: request.id, error: wireError(error, request.method) })
    }
  }
  process.exit(0)
}

type Request<Method extends HostRequest['method']> = Extract<HostRequest, { readonly method: Method }>
type Methods = { [Method in HostRequest['method']]: (request: Request<Method>) => Promise<unknown> }

async function answer(methods: Methods, request: HostRequest): Promise<unknown> {
  switch (request.method) {
    case 'hello':
      return methods.hello(request)
    case 'open':
      return methods.open(request)
    case 'run':
      return methods.run(request)
    case 'close':
      return methods.close(request)
    default:
      throw new UnknownMethod(request)
  }
}

class UnknownMethod extends Error {
  constructor(request: never) {
    super(`unknown method "${(request as HostRequest).method}"`)
  }
}

async function hello(runtime: Runtime, device: string): Promise<unknown> {
  const probe = await runtime.probe(device)
  if (!probe.available) return { protocols: [PROTOCOL], runtime: runtime.name, ...probe }
  const { capabilities, ...info } = probe
  const { dtypes, outputDtypes, ...can } = capabilities
  return { protocols: [PROTOCOL], runtime: runtime.name, ...info, dtypes, outputDtypes, capabilities: can, limits: {} }
}

let lastSession = 0

async function open(runtime: Runtime, channel: SyncChannel, sessions: Map<number, Session>, request: Request<'open'>) {
  const { target, taps } = request.params
  const model = receiveModelRef(channel, request.id, request.params)
  const startedAt = performance.now()
  const session = await runtime.open(model, taps ? { target, taps } : { target })
  const durationMs = performance.now() - startedAt
  lastSession++
  sessions.set(lastSession, session)
  const { inputs, outputs, detail } = session
  return { session: lastSession, inputs, outputs, detail, durationMs }
}

function receiveModelRef(channel: SyncChannel, request: number, { model }: OpenParams): ModelRef {
  if ('path' in model) return model
  const bytes = receiveModel(channel, request, model.byteLength)
  return { format: model.format, bytes, folder: model.folder }
}

async function run(channel: SyncChannel, sessions: Map<number, Session>, request: Request<'run'>) {
  const { session: id, values }: RunParams = request.params
  const inputs = receiveInputs(channel, request.id, values)
  const session = sessions.get(id)
  if (!session) throw new StageError('run', `there is no session ${id}`)
  checkInputs(session.inputs, inputs)
  return await session.run(inputs, async (chunk) => {
    for (const part of splitTensor(chunk, chunk.bytes)) {
      const place = { offset: chunk.offset + part.offset, last: chunk.last && part.last }
      const { name, dtype, shape } = part
      channel.write(
        { jsonrpc: '2.0', method: 'tensor', params: { request: request.id, name, dtype, shape, ...place } },
        part.bytes,
      )
    }
  })
}

async function close(sessions: Map<number, Session>, id: number): Promise<unknown> {
  const session = sessions.get(id)
  sessions.delete(id)
  await session?.close()
  return {}
}

function wireError(error: unknown, method: string): unknown {
  if (error instanceof UnknownMethod) return { code: METHOD_NOT_FOUND, message: error.message }
  const stage: Stage = error instanceof StageError ? error.stage : method === 'run' ? 'run' : 'compile'
  const detail = error instanceof StageError ? error.detail : {}
  return { code: FAILED, message: error instanceof Error ? error.message : String(error), data: { ...detail, stage } }
}
