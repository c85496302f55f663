import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Parsing } from '../../files/convergence/contract.ts'
import { folder, pattern, type Ran, run } from './testing/run.ts'

const fields = (field: string) => ({ kind: 'fields', fields: { 0: field } }) as const

const PARSING: Parsing = {
  source: { kind: 'jsonl-file', path: '' },
  stepNum: fields('step'),
  modelSave: pattern('saved (\\S+)'),
  metrics: { loss: fields('loss') },
}

let count = 0
const newPath = () => join(folder, `metrics-${count++}.jsonl`)
const runWith = (sourcePath: string, program: string, limits = { idleMs: 20_000, totalMs: null, patternMs: 1000 }) =>
  run(
    `import { appendFileSync, writeFileSync } from 'node:fs'\nconst path = ${JSON.stringify(sourcePath)}\n${program}`,
    {
      parsing: PARSING,
      sourcePath,
      limits,
    },
  )
const losses = (ran: Ran) =>
  ran.events.flatMap((event) => (event.kind === 'step' ? [event.metrics.loss?.[0]] : ['save']))

test('metrics come from the file, to its end, and saves from the stream in their place', async () => {
  const ran = await runWith(
    newPath(),
    `for (let step = 0; step < 6; step++) {
      appendFileSync(path, JSON.stringify({ step, loss: step / 8 }) + (step < 5 ? '\\n' : ''))
      if (step === 2) console.log('saved a.bin')
      await new Promise((resolve) => setTimeout(resolve, 60))
    }`,
  )
  expect(losses(ran)).toEqual(['0', '0.125', '0.25', 'save', '0.375', '0.5', '0.625'])
  expect(ran).toMatchObject({ ending: 'exited', exitCode: 0, warnings: [], lines: 1 })
})

test('the rows of an earlier run do not count, whether the program adds to the file or begins it anew', async () => {
  const old = '{"step": 1, "loss": 99}\n'
  for (const [write, rows] of [
    ['appendFileSync', ['2']],
    ['writeFileSync', ['2']],
  ] as const) {
    const path = newPath()
    writeFileSync(path, old)
    expect(losses(await runWith(path, `${write}(path, '{"step": 1, "loss": 2}\\n')`))).toEqual(rows)
  }
  const path = newPath()
  writeFileSync(path, old)
  const ran = await runWith(path, '')
  expect(losses(ran)).toEqual([])
  expect(ran.warnings).toEqual([`the program wrote nothing to ${path}`])
  const again = await runWith(path, `writeFileSync(path, ${JSON.stringify(readFileSync(path, 'utf8'))})`)
  expect(losses(again)).toEqual(['99'])
})

test('a file that is never written is said', async () => {
  const path = newPath()
  expect((await runWith(path, '')).warnings).toEqual([`the program wrote no ${path}`])
})

test('a program that writes rows and prints nothing is not idle', async () => {
  const program = `let step = 0
    setInterval(() => { appendFileSync(path, '{"step": ' + step + ', "loss": 1}\\n'); if (step++ === 14) process.exit() }, 100)`
  const ran = await runWith(newPath(), program, { idleMs: 900, totalMs: null, patternMs: 1000 })
  expect(ran.ending).toBe('exited')
  expect(losses(ran).length).toBe(15)
})

test('a large file that is written at once is read whole', async () => {
  const program = `let all = ''
    for (let step = 0; step < 200000; step++) all += '{"step": ' + step + ', "loss": ' + step + '}\\n'
    writeFileSync(path, all)`
  const ran = await runWith(newPath(), program)
  expect(losses(ran).length).toBe(200_000)
  expect(losses(ran).every((loss, step) => loss === String(step))).toBe(true)
})
