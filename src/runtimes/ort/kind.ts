import type { WorkerKind } from '../contract.ts'
import { locatePackage, resolvePackage } from '../install/resolve.ts'
import { inheritedFor } from '../process/worker-variables.ts'
import { workerEntry } from '../worker-entry.ts'
import { ORT_SCHEMA } from './schema.ts'

/** onnxruntime-node: ONNX Runtime's native library. */
export const ORT: WorkerKind = {
  name: 'ort',
  schema: ORT_SCHEMA,
  processOptions: ['env'],
  needs: async ({ version }, context) => [await locatePackage('onnxruntime-node', version, context)],
  async launch(target, context) {
    const found = await resolvePackage('onnxruntime-node', target.version, context)
    return {
      argv: [process.execPath, workerEntry('ort/worker.js'), found.folder, found.version],
      inherits: inheritedFor('node', target, context),
      env: { ORT_DISABLE_TELEMETRY: '1' },
      channel: 'fd3',
    }
  },
}
