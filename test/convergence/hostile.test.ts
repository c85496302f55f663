import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { assayJson, ended, startAssay } from '../support/assay.ts'
import { said, until } from '../support/events.ts'
import { recordedTraining } from '../support/recorded-training.ts'

let folder: string
beforeAll(async () => {
  folder = await recordedTraining()
})

/** A configuration beside the usual one, for a program that does something before it trains. */
function disturbed(name: string, before: string, executable = `["node", "${name}.mjs"]`): string[] {
  writeFileSync(join(folder, `${name}.mjs`), `${before}\nawait import('./program.mjs')\n`)
  const config = readFileSync(join(folder, 'tests.yml'), 'utf8').replace('["node", "program.mjs"]', executable)
  writeFileSync(join(folder, `${name}.yml`), config)
  return ['converge', '-t', `${name}.yml`, '-s', 'storage', '-k', 'ckpt_3']
}

test('words of the program are passed as they are, and no shell of ours sees them', async () => {
  const words = ['a b', '$(touch pwned)', '; touch pwned', '`touch pwned`', '-x', "it's", '"q"', 'new\nline']
  const args = disturbed(
    'echo',
    `import { writeFileSync } from 'node:fs'
writeFileSync('argv.json', JSON.stringify(process.argv.slice(2)))`,
    JSON.stringify(['sh', '-c', 'exec node echo.mjs "$0" "$@"', ...words]),
  )
  expect((await assayJson(args, folder)).results).toMatchObject([{ verdict: 'pass' }])
  const argv = JSON.parse(readFileSync(join(folder, 'argv.json'), 'utf8'))
  expect(argv.slice(0, words.length)).toEqual(words)
  expect(existsSync(join(folder, 'pwned'))).toBe(false)
})

test('an interrupted replay leaves no program behind', async () => {
  const args = disturbed(
    'waits',
    `import { renameSync, writeFileSync } from 'node:fs'
writeFileSync('pid.new', String(process.pid))
renameSync('pid.new', 'pid')
await new Promise(() => setInterval(() => {}, 1000))`,
  )
  const child = startAssay(args, folder)
  const end = ended(child)
  const heard = said(child.stderr, 'interrupt again to stop now')
  await until(() => existsSync(join(folder, 'pid')), 'the program has written its id')
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  child.kill('SIGINT')
  await heard
  child.kill('SIGINT')
  expect((await end).code).toBe(2)
  await until(() => !isAlive(pid), 'the program has ended')
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
