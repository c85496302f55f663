import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { SkipCase, StageError } from '../../domain/errors.ts'
import { parseTarget, type Target } from '../../domain/target.ts'
import type { TensorSink, Trace } from '../../domain/tensor.ts'
import type { DecodeRequest, DecodeStep, InProcessKind, ModelRef, OpenOptions, Runtime, Session } from '../contract.ts'
import { DEFAULT_LIMITS } from '../contract.ts'
import { RefusedRequest, WorkerFailure } from '../failure.ts'
import { createPool, type Pool } from '../host/pool.ts'
import { type NativeOnnxRuntime, ortRuntime } from '../ort/runtime.ts'
import { ORT_SCHEMA } from '../ort/schema.ts'
import { TARGET_SCHEMAS } from '../registry.ts'

const require = createRequire(import.meta.url)

let loaded: Runtime | undefined

/** onnxruntime-node in this very process, as its worker makes it. */
export function realOrt(): Runtime {
  loaded ??= load()
  return loaded
}

function load(): Runtime {
  process.env.ORT_DISABLE_TELEMETRY = '1'
  // Where Float16Array exists (Node 24), onnxruntime-node takes no float16 inputs.
  Reflect.deleteProperty(globalThis, 'Float16Array')
  const ort: NativeOnnxRuntime = require('onnxruntime-node')
  const manifest = join(dirname(require.resolve('onnxruntime-node')), '../package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  return ortRuntime({ ort, version, file: 'onnxruntime-node' })
}

/** A runtime in the process that refuses as a worker would: with a message, and the worker lives on. */
export function inProcess(name: string, create: () => Runtime): InProcessKind {
  return { name, schema: ORT_SCHEMA, create: async () => answering(create()) }
}

/** The name `ort`, without a process. */
const ORT_IN_PROCESS: InProcessKind = inProcess('ort', realOrt)

/** Runtimes that only a test knows take the options of onnxruntime. */
export function testTarget(spec: string): Target {
  const runtime = spec.replace(/^[^:@,=]+=/, '').split(/[:@,]/)[0]!
  return parseTarget(spec, { [runtime]: ORT_SCHEMA, ...TARGET_SCHEMAS })
}

/** A pool whose runtimes all live in this process. */
export function inProcessPool(folder: string, kinds: readonly InProcessKind[] = []): Pool {
  return createPool({
    size: 1,
    context: { environment: process.env, projectFolder: folder, runtimesFolder: folder, notice: () => {} },
    limits: DEFAULT_LIMITS,
    kinds: Object.fromEntries([ORT_IN_PROCESS, ...kinds].map((kind) => [kind.name, kind])),
  })
}

function answering(runtime: Runtime): Runtime {
  return {
    ...runtime,
    open: (model: ModelRef, options: OpenOptions) =>
      refusing('compile', async () => answeringSession(await runtime.open(model, options))),
    ...(runtime.writeIr && {
      writeIr: (model, options) => refusing('compile', async () => runtime.writeIr!(model, options)),
    }),
  }
}

function answeringSession(session: Session): Session {
  return {
    ...session,
    run: (inputs: Trace, sink: TensorSink, logs, shapes, stays) =>
      refusing('run', () => session.run(inputs, sink, logs, shapes, stays)),
    ...(session.decode && { decode: (request) => answeringSteps(session, request) }),
  }
}

async function* answeringSteps(session: Session, request: DecodeRequest): AsyncGenerator<DecodeStep, void> {
  const steps = await refusing('run', async () => session.decode!(request))
  try {
    for (;;) {
      const { value, done } = await refusing('run', () => steps.next())
      if (done) return
      yield value
    }
  } finally {
    await steps.return()
  }
}

async function refusing<T>(stage: 'compile' | 'run', work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isOurs = error instanceof WorkerFailure || error instanceof SkipCase || !(error instanceof Error)
    if (isOurs) throw error
    if (error instanceof StageError) throw new RefusedRequest(error.message, error.detail, error.stage)
    throw new RefusedRequest(error.message, {}, stage)
  }
}
