import { UsageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { ownFile } from '../../files/disk/own-files.ts'
import type { LaunchContext, Need, RuntimeSchema, WorkerKind } from '../contract.ts'
import { inheritedFor } from '../process/worker-variables.ts'
import { askPython } from './ask-python.ts'
import { engineNamed } from './engines.ts'
import { findPython } from './find-python.ts'
import { IREE_SCHEMA, ONNX_REFERENCE_SCHEMA, ONNXRUNTIME_SCHEMA, OPENVINO_SCHEMA } from './schema.ts'

/** A Python library that runs models in our Python worker. */
export function pythonKind(engine: string, schema: RuntimeSchema): WorkerKind {
  return {
    name: engine,
    schema,
    processOptions: Object.hasOwn(schema.options, 'threads') ? ['threads', 'env'] : ['env'],
    needs: async (_target, context) => [await needOf(engine, context)],
    async launch(target, context) {
      const found = findPython(engine, context)
      if (found.path === null) throw new UsageError('install', `${found.reason}; ${found.remedy}`)
      return {
        argv: [found.path, ownFile('workers/python/assay_worker'), engine, found.remedy],
        inherits: inheritedFor('python', target, context),
        env: environmentOf(target, schema),
        channel: 'stdout',
      }
    },
  }
}

export const ONNXRUNTIME = pythonKind('onnxruntime', ONNXRUNTIME_SCHEMA)
export const ONNX_REFERENCE = pythonKind('onnx-reference', ONNX_REFERENCE_SCHEMA)
export const OPENVINO = pythonKind('openvino', OPENVINO_SCHEMA)
export const IREE = pythonKind('iree', IREE_SCHEMA)

/** Libraries under NumPy start as many threads as there are cores unless they are told. */
function environmentOf(target: Target, schema: RuntimeSchema): Record<string, string> {
  const threads = target.options.threads ?? schema.options.threads ?? '1'
  return {
    ORT_DISABLE_TELEMETRY: '1',
    OMP_NUM_THREADS: threads,
    OPENBLAS_NUM_THREADS: threads,
    MKL_NUM_THREADS: threads,
    PYTHONUNBUFFERED: '1',
  }
}

/** Its library first, because that is what somebody looks for. */
async function needOf(engine: string, context: LaunchContext): Promise<Need> {
  const { packages, modules } = engineNamed(engine)
  const [name = engine] = packages
  const found = findPython(engine, context)
  const absent = { name: `${name} for Python`, version: null, path: null, onFirstUse: false, remedy: found.remedy }
  if (found.path === null) return absent
  const facts = await askPython(found.path, [name], modules)
  // Why it does not answer is said when it is tried.
  if (facts instanceof Error) return { ...absent, path: found.path }
  const isHere = modules.every((module) => facts.modules[module])
  return { ...absent, version: facts.packages[name] ?? null, path: isHere ? found.path : null }
}
