import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TestClock } from '../../../domain/testing/test-clock.ts'
import type { Parsing } from '../config/contract.ts'
import { maskedCrc32c } from '../logs/crc32c.ts'
import type { ProgramRequest } from './contract.ts'
import { folder, pattern, type Ran, run } from './testing/run.ts'

const fields = (field: string) => ({ kind: 'fields', fields: { 0: field } }) as const

function parsingOf(kind: 'jsonl-file' | 'csv' | 'tensorboard'): Parsing {
  return {
    source: { kind, path: '' },
    stepNum: fields('step'),
    modelSave: pattern('saved (\\S+)'),
    metrics: { loss: fields('loss') },
  }
}

let count = 0
const newPath = () => join(folder, `metrics-${count++}`)

/** The program may wait until a name was noted, which a line that it prints is. */
function runWith(
  path: string,
  program: string,
  kind: Parameters<typeof parsingOf>[0] = 'jsonl-file',
  changes: Partial<ProgramRequest> = {},
) {
  const start = `import { appendFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
    const path = ${JSON.stringify(path)}
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
    const noted = async (name) => { while (!existsSync(path + '.' + name)) await wait(5) }\n`
  const onOutput = (line: string) => note(path, line)
  return run(start + program, { parsing: parsingOf(kind), sourcePath: path, onOutput, ...changes })
}

const note = (path: string, name: string) => writeFileSync(`${path}.${name}`, '')

const seen = (ran: Ran) => ran.events.map((event) => (event.kind === 'step' ? event.metrics.loss?.[0] : 'save'))

test('metrics come from the file, to its end, and saves from the stream in their place', async () => {
  const program = `for (let step = 0; step < 6; step++) {
      appendFileSync(path, JSON.stringify({ step, loss: step / 8 }) + (step < 5 ? '\\n' : ''))
      if (step === 2) {
        console.log('saved a.bin')
        await noted('saved a.bin')
      }
    }`
  const ran = await runWith(newPath(), program)
  expect(seen(ran)).toEqual(['0', '0.125', '0.25', 'save', '0.375', '0.5', '0.625'])
  expect(ran).toMatchObject({ ending: 'exited', exitCode: 0, warnings: [], lines: 1 })
})

test('the rows of an earlier run do not count, whether the program adds to the file or begins it anew', async () => {
  const old = '{"step": 1, "loss": 99}\n'
  for (const write of ['appendFileSync', 'writeFileSync']) {
    const path = newPath()
    writeFileSync(path, old)
    expect(seen(await runWith(path, `${write}(path, '{"step": 1, "loss": 2}\\n')`))).toEqual(['2'])
  }
  const path = newPath()
  writeFileSync(path, old)
  const ran = await runWith(path, '')
  expect(seen(ran)).toEqual([])
  expect(ran.warnings).toEqual([`the program wrote nothing to ${path}`])
  const again = await runWith(path, `writeFileSync(path, ${JSON.stringify(readFileSync(path, 'utf8'))})`)
  expect(seen(again)).toEqual(['99'])
})

test('rows that are added to a CSV file of an earlier run have its columns', async () => {
  const path = newPath()
  writeFileSync(path, 'loss,step\n99,1\n')
  const ran = await runWith(path, `appendFileSync(path, '0.5,1\\n0.25,2\\n')`, 'csv')
  expect(seen(ran)).toEqual(['0.5', '0.25'])
  const warning = 'existed before the program started, so only what was added counts. Give each run its own'
  expect(ran.warnings).toEqual([`${path} ${warning}`])
})

test('a table that gets another column is read again, and what was wrong with it before is forgotten', async () => {
  const program = `writeFileSync(path, 'step,x\\n1,2\\n')
    console.log('written')
    await noted('written')
    writeFileSync(path, 'step,x,loss\\n1,2,\\n2,,5\\n')`
  const ran = await runWith(newPath(), program, 'csv')
  expect(ran.events.at(-1)).toEqual({ kind: 'step', step: 2, metrics: { loss: { 0: '5' } } })
  expect(ran.warnings).toEqual([])
})

test('a file that is never written is said', async () => {
  const path = newPath()
  expect((await runWith(path, '')).warnings).toEqual([`the program wrote no ${path}`])
})

test('a program that writes rows and prints nothing is not idle', async () => {
  // A step is told when the next one has come.
  const program = `for (let step = 0; step < 5; step++) {
      appendFileSync(path, '{"step": ' + step + ', "loss": 1}\\n')
      if (step > 0) await noted(step - 1)
    }`
  const clock = new TestClock()
  const path = newPath()
  const onEvents: ProgramRequest['onEvents'] = (events) => {
    clock.advance(500)
    for (const event of events) if (event.kind === 'step') note(path, String(event.step))
    return true
  }
  const limits = { idleMs: 900, totalMs: null, patternMs: 20_000 }
  const ran = await runWith(path, program, 'jsonl-file', { clock, onEvents, limits })
  expect(ran.ending).toBe('exited')
  expect(clock.now()).toBeGreaterThan(1800)
})

test('a large file that is written at once is read whole', async () => {
  const program = `let all = ''
    for (let step = 0; step < 200000; step++) all += '{"step": ' + step + ', "loss": ' + step + '}\\n'
    writeFileSync(path, all)`
  const ran = await runWith(newPath(), program)
  expect(seen(ran).length).toBe(200_000)
  expect(seen(ran).every((loss, step) => loss === String(step))).toBe(true)
})

/** A record of TensorBoard with one number. */
function record(step: number, tag: string, value: number): Buffer {
  const number = Buffer.alloc(4)
  number.writeFloatLE(value)
  const scalar = Buffer.concat([Buffer.of(0x0a, tag.length), Buffer.from(tag), Buffer.of(0x15), number])
  const event = Buffer.concat([Buffer.of(0x10, step, 0x2a, scalar.length + 2, 0x0a, scalar.length), scalar])
  const length = Buffer.alloc(8)
  length.writeUInt32LE(event.length)
  return Buffer.concat([length, sumOf(length), event, sumOf(event)])
}

function sumOf(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32LE(maskedCrc32c(bytes))
  return sum
}

test('new event files of a folder of TensorBoard are read in the order of their names, and old ones are not', async () => {
  const path = newPath()
  mkdirSync(path)
  writeFileSync(join(path, 'events.out.tfevents.1'), record(1, 'loss', 99))
  const [one, two] = [record(1, 'loss', 0.5), record(2, 'loss', 0.25)].map((bytes) => bytes.toString('base64'))
  const program = `mkdirSync(path + '-next')
    writeFileSync(path + '-next/events.out.tfevents.3', Buffer.from('${two}', 'base64'))
    writeFileSync(path + '-next/events.out.tfevents.2', Buffer.from('${one}', 'base64'))
    writeFileSync(path + '-next/notes.txt', 'x')
    renameSync(path + '-next', path + '/train')`
  const ran = await runWith(path, program, 'tensorboard')
  expect(ran.events.map((event) => event.step)).toEqual([1, 2])
  expect(seen(ran)).toEqual(['0.5', '0.25'])
  expect(ran.warnings).toEqual([])
})

test('a damaged file ends the program, and the problem says what is wrong with it', async () => {
  const program = `mkdirSync(path + '/train', { recursive: true })
    writeFileSync(path + '/train/events.out.tfevents.1', 'this is no event file, whatever its name says')
    await wait(600_000)`
  const path = newPath()
  const ran = await runWith(path, program, 'tensorboard')
  expect(ran.ending).toBe('unreadable')
  expect(ran.problem?.startsWith(`cannot read ${path}: `)).toBe(true)
})
