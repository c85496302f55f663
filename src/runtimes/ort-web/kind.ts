import type { WorkerKind } from '../contract.ts'
import { locatePackage, resolvePackage } from '../install/resolve.ts'
import { inheritedFor } from '../process/worker-variables.ts'
import { workerEntry } from '../worker-entry.ts'
import { ORT_WEB_SCHEMA } from './schema.ts'

/** onnxruntime-web: ONNX Runtime as WebAssembly, in Node. */
export const ORT_WEB: WorkerKind = {
  name: 'ort-web',
  schema: ORT_WEB_SCHEMA,
  // The size of the WebAssembly thread pool is fixed when the module starts.
  processOptions: ['threads', 'env'],
  needs: async ({ version }, context) => [await locatePackage('onnxruntime-web', version, context)],
  async launch(target, context) {
    const found = await resolvePackage('onnxruntime-web', target.version, context)
    const argv = [process.execPath, workerEntry('ort-web/worker.js'), found.folder, found.version]
    return { argv, inherits: inheritedFor('node', target, context), channel: 'fd3' }
  },
}
