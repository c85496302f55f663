import { fileURLToPath } from 'node:url'
import { UsageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { Need, RuntimeSchema, WorkerKind } from '../contract.ts'
import { type FoundPython, findPython } from './find-python.ts'
import { pinsOf } from './pins.ts'
import { IREE_SCHEMA, ONNX_REFERENCE_SCHEMA, ONNXRUNTIME_SCHEMA, OPENVINO_SCHEMA } from './schema.ts'

/** Source and compiled file lie equally deep. */
const WORKER = fileURLToPath(new URL('../../../workers/python/assay_worker', import.meta.url))

/** A Python library that runs models in our Python worker. */
function pythonKind(engine: string, schema: RuntimeSchema): WorkerKind {
  return {
    name: engine,
    schema,
    processOptions: Object.keys(schema.options).includes('threads') ? ['threads'] : [],
    needs: async (_target, context) => [needOf(engine, findPython(context))],
    async launch(target, context) {
      const found = findPython(context)
      if (found.path === null) throw new UsageError('install', absence(engine, found))
      return {
        argv: [found.path, WORKER, engine, remedyFor(engine, found)],
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

function needOf(engine: string, found: FoundPython): Need {
  const name = found.named === null ? 'a Python environment' : `the Python "${found.named}"`
  return { name, version: null, path: found.path, onFirstUse: false, remedy: remedyFor(engine, found) }
}

function absence(engine: string, found: FoundPython): string {
  const remedy = remedyFor(engine, found)
  return found.named === null
    ? `${engine} needs Python, which is not set up here; ${remedy}`
    : `there is no program "${found.named}"; ${remedy}`
}

/** Into a Python that somebody named, nothing is installed by us. */
function remedyFor(engine: string, { path, named }: FoundPython): string {
  if (named === null) return `run: assay setup python ${engine}`
  if (path === null) return 'name a Python with --python or ASSAY_PYTHON, or leave both out and run: assay setup python'
  return `run: ${named} -m pip install ${pinsOf(engine).join(' ')}`
}
