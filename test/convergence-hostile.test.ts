import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../src/domain/result.ts'
import { assay, assayJson, ended, startAssay } from './assay.ts'
import { GATHER, trainingProject } from './training-project.ts'

const MIB = 2 ** 20

let folder: string
beforeAll(async () => {
  folder = trainingProject()
  expect((await assay(GATHER, folder)).code).toBe(0)
})

/** Puts lines in front of the program, so that it does something before it trains. */
function disturbed(before: string): string {
  const name = `disturbed-${Math.random().toString(36).slice(2)}`
  writeFileSync(join(folder, `${name}.mjs`), `${before}\nawait import('./program.mjs')\n`)
  const config = readFileSync(join(folder, 'tests.yml'), 'utf8').replace('program.mjs', `${name}.mjs`)
  writeFileSync(join(folder, `${name}.yml`), config)
  return `${name}.yml`
}

async function replay(config: string): Promise<Result> {
  const report = await assayJson(['converge', '-t', config, '-s', 'storage', '-k', 'ckpt_3'], folder)
  return report.results[0]!
}

/** Largest resident size of a process while it runs. */
async function peakOf(args: readonly string[]) {
  const child = startAssay([...args, '--json'], folder)
  let peakBytes = 0
  const timer = setInterval(() => {
    try {
      const kibibytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
      peakBytes = Math.max(peakBytes, Number(kibibytes ?? 0) * 1024)
    } catch {
      // It has ended.
    }
  }, 50)
  const startedMs = performance.now()
  const ran = await ended(child)
  clearInterval(timer)
  return { peakBytes, durationMs: performance.now() - startedMs, results: JSON.parse(ran.stdout).results as Result[] }
}

describe.runIf(process.platform === 'linux')('a program that', () => {
  const write = (stream: string, bytes: number, text: string) => `
import { writeSync } from 'node:fs'
const chunk = Buffer.from(${text})
for (let left = ${bytes}; left > 0; ) {
  try { left -= writeSync(${stream}, chunk, 0, Math.min(chunk.length, left)) } catch (error) { if (error.code !== 'EAGAIN') throw error }
}
writeSync(${stream}, '\\n')`

  test.each([
    ['floods stderr with 100 MB', write('2', 100 * MIB, `'x'.repeat(99).concat('\\n').repeat(600)`)],
    ['floods stdout with 100 MB', write('1', 100 * MIB, `'x'.repeat(99).concat('\\n').repeat(600)`)],
    ['prints a line of 1 GB', write('1', 1024 * MIB, `'Step: 5 Loss: 1 '.repeat(4096)`)],
  ])(
    '%s is judged as if it had not, in bounded time and memory',
    async (_what, before) => {
      const config = disturbed(before)
      const args = ['converge', '-t', config, '-s', 'storage', '-k', 'ckpt_3']
      const { peakBytes, durationMs, results } = await peakOf(args)
      expect(results[0]).toMatchObject({ verdict: 'pass', coverage: { compared: 3, expected: 3 } })
      expect(peakBytes).toBeLessThan(400 * MIB)
      expect(durationMs).toBeLessThan(60_000)
    },
    90_000,
  )
})

test('a pattern that would never end is an error that names it', async () => {
  const config = readFileSync(join(folder, 'tests.yml'), 'utf8').replace('Accuracy: (\\\\S+)', '^(a+)+$')
  expect(config).toContain('^(a+)+$')
  writeFileSync(join(folder, 'endless.yml'), config)
  writeFileSync(
    join(folder, 'endless.mjs'),
    `console.log('a'.repeat(60) + 'b Step: 4')\nawait import('./program.mjs')\n`,
  )
  writeFileSync(join(folder, 'endless.yml'), config.replace('program.mjs', 'endless.mjs'))
  const startedMs = performance.now()
  const { verdict, error } = await replay('endless.yml')
  expect(performance.now() - startedMs).toBeLessThan(30_000)
  expect(verdict).toBe('error')
  expect(error!.message).toContain('accuracy')
})

test('words of the program are passed as they are, and no shell of ours sees them', async () => {
  const words = ['a b', '$(touch pwned)', '; touch pwned', '`touch pwned`', '-x', "it's", '"q"', 'new\nline']
  writeFileSync(
    join(folder, 'echo.mjs'),
    `import { writeFileSync } from 'node:fs'
writeFileSync('argv.json', JSON.stringify(process.argv.slice(2)))
await import('./program.mjs')\n`,
  )
  const listed = JSON.stringify(['sh', '-c', 'exec node echo.mjs "$0" "$@"', ...words])
  const config = readFileSync(join(folder, 'tests.yml'), 'utf8').replace('["node", "program.mjs"]', listed)
  writeFileSync(join(folder, 'echo.yml'), config)
  expect((await replay('echo.yml')).verdict).toBe('pass')
  const argv = JSON.parse(readFileSync(join(folder, 'argv.json'), 'utf8'))
  expect(argv.slice(0, words.length)).toEqual(words)
  expect(() => readFileSync(join(folder, 'pwned'))).toThrow()
})

test('a program that is not there is an error that says where it was looked for', async () => {
  const config = readFileSync(join(folder, 'tests.yml'), 'utf8').replace('"node", ', '"nodejs-of-tomorrow", ')
  writeFileSync(join(folder, 'missing.yml'), config)
  const { verdict, error } = await replay('missing.yml')
  expect(verdict).toBe('error')
  expect(error!.message).toContain('nodejs-of-tomorrow')
})

test('an interrupted replay leaves no program behind', async () => {
  const config = disturbed(`
import { writeFileSync } from 'node:fs'
writeFileSync('pid', String(process.pid))
await new Promise((resolve) => setTimeout(resolve, 60_000))`)
  const child = startAssay(['converge', '-t', config, '-s', 'storage', '-k', 'ckpt_3'], folder)
  const pid = await waitFor(() => Number(readFileSync(join(folder, 'pid'), 'utf8')))
  child.kill('SIGINT')
  // Two at once would be one.
  await new Promise((resolve) => setTimeout(resolve, 300))
  child.kill('SIGINT')
  const startedMs = performance.now()
  const { code } = await ended(child)
  expect(performance.now() - startedMs).toBeLessThan(10_000)
  expect(code).toBe(2)
  await waitFor(() => {
    try {
      process.kill(pid, 0)
      return 0
    } catch {
      return 1
    }
  })
})

async function waitFor(look: () => number): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    try {
      const found = look()
      if (found > 0) return found
    } catch {
      // Not yet.
    }
  }
  throw new Error('waited for 10 s')
}

test('every line is read: 2,000 fast ones, ten times', async () => {
  const config = `
fast:
  directory: .
  executable: ["node", "fast.mjs"]
  log_output: stderr
  log_parsing:
    step_num: { regex: "Step: (\\\\d+)" }
    model_save: { regex: "Saved (.+)" }
    loss: { regex: "Loss: (\\\\S+)" }
  metrics:
    loss: { comparison: "==", margin: 0 }
  recording: { steps_to_record_after_save: 2000 }
  flags:
    gather:
      checkpoint_output: { key: "--out", set_in_script: true }
    run:
      checkpoint_input: { key: "--in", set_in_script: true }
      start_step: { key: "--start", set_in_script: true }
      run_for: { key: "--until", set_in_script: true }
`
  writeFileSync(join(folder, 'fast.yml'), config)
  writeFileSync(
    join(folder, 'fast.mjs'),
    `import { mkdirSync, writeFileSync } from 'node:fs'
const [flag, path] = process.argv.slice(2)
let text = ''
if (flag === '--out') { mkdirSync(path, { recursive: true }); writeFileSync(path + '/fast', '1'); text = 'Saved ' + path + '/fast\\n' }
for (let step = 0; step < 2000; step++) text += 'Step: ' + step + ' Loss: ' + 1 / (step + 1) + '\\n'
process.stderr.write(text)
process.exitCode = 0\n`,
  )
  const args = ['converge', '-t', 'fast.yml', '-s', 'fast storage']
  expect((await assay([...args, '-g'], folder)).code).toBe(0)
  for (let round = 0; round < 10; round++) {
    const { results } = await assayJson(args, folder)
    expect(results[0]).toMatchObject({ verdict: 'pass', coverage: { compared: 2000, expected: 2000 } })
  }
})
