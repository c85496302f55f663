import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packagePath } from '../install/package-path.ts'
import type { OnnxRuntime } from '../ort/onnxruntime.ts'
import { serveStdio } from '../worker/serve-stdio.ts'
import { importEntry } from './import-entry.ts'
import { ortWebRuntime } from './runtime.ts'

const [, , folder = '', version = ''] = process.argv
// Where Float16Array exists (Node 24), float16 tensors would take nothing else.
Reflect.deleteProperty(globalThis, 'Float16Array')
const file = join(folder, importEntry(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))))
// Imported, never required: a required onnxruntime-web shares its registry with onnxruntime-node and may run that instead.
const ort: OnnxRuntime = await import(pathToFileURL(file).href)
await serveStdio(ortWebRuntime({ ort, version, file: packagePath(file) }))
