// npm test [-- vitest arguments]
import { bin, ensureBuilt, ensureInstalled, run } from './setup.mjs'

ensureInstalled()
ensureBuilt()
process.exit(run(bin('vitest'), ['run', ...process.argv.slice(2)]))
