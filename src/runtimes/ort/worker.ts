import { createRequire } from 'node:module'
import { packagePath } from '../install/package-path.ts'
import { serveStdio } from '../worker/serve-stdio.ts'
import { type NativeOnnxRuntime, ortRuntime } from './runtime.ts'

const [, , folder = '', version = ''] = process.argv
process.env.ORT_DISABLE_TELEMETRY = '1'
// Where Float16Array exists (Node 24), onnxruntime-node 1.30 takes no float16 inputs; without it Uint16Array serves.
Reflect.deleteProperty(globalThis, 'Float16Array')
const ort: NativeOnnxRuntime = createRequire(import.meta.url)(folder)
const file = Object.keys(createRequire(import.meta.url).cache).find((path) => path.endsWith('.node')) ?? folder
await serveStdio(ortRuntime({ ort, version, file: packagePath(file) }))
