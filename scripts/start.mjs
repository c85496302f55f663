// npm start: real models, native onnxruntime against onnxruntime-web's WebAssembly.
import { ensureBuilt, ensureInstalled, run } from './setup.mjs'

ensureInstalled()
ensureBuilt()
const config = 'examples/real-models/assay.config.ts'
process.exit(run(process.execPath, ['dist/cli/main.js', 'test', '--config', config, ...process.argv.slice(2)]))
