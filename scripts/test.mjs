// npm test [-- vitest arguments]: the fast groups. npm run test:all: the slow one too.
import { readdirSync } from 'node:fs'
import { bin, ensureBuilt, ensureInstalled, root, run } from './setup.mjs'

const FAST = ['unit', 'e2e']

ensureInstalled()
ensureBuilt()
const [first, ...rest] = process.argv.slice(2)
const isAll = first === '--all'
const args = isAll ? rest : process.argv.slice(2)
// Who names projects or files has chosen already.
const hasChosen = args.some((word) => word.startsWith('--project') || /^(src|test|web)\//.test(word))
const groups = isAll || hasChosen ? [] : FAST.map((name) => `--project=${name}`)
const status = run(bin('vitest'), ['run', ...groups, ...args])
if (groups.length > 0) {
  const slow = readdirSync(`${root}/test`, { recursive: true }).filter((name) => name.endsWith('.slow.test.ts'))
  process.stdout.write(`left out the slow group (${slow.length} files); to run: npm run test:all\n`)
}
process.exit(status)
