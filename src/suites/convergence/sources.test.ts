import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../runs/testing/tiny-suite.ts'
import type { ConvergenceTest } from './config/contract.ts'
import { readConvergenceTests } from './config/read-tests.ts'
import type { PlannedTest } from './planned-test.ts'
import { Storage } from './storage/storage.ts'
import { gatherDemo, listVerdicts, replayDemo } from './testing/demo-run.ts'
import { withVariables } from './testing/demo-window.ts'

/** Trains by a formula and writes its metrics where FORMAT says; the stream has steps and saves only. */
const PROGRAM = `
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
const words = process.argv.slice(2)
const option = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined)
const [folder, resume, format] = [option('--checkpoints'), option('--resume'), option('--format')]
const start = Number(option('--start') ?? 0)
const until = Number(option('--until') ?? 12)

function crc32c(bytes) {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0)
  }
  crc = ~crc >>> 0
  const mask = (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
  return Buffer.from([mask, mask >>> 8, mask >>> 16, mask >>> 24].map((byte) => byte & 255))
}
const field = (number, bytes) => Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes])
function event(step, tag, value) {
  const number = Buffer.alloc(5)
  number[0] = 2 * 8 + 5
  number.writeFloatLE(value, 1)
  const body = Buffer.concat([Buffer.from([16, step]), field(5, field(1, Buffer.concat([field(1, Buffer.from(tag)), number])))])
  const length = Buffer.alloc(8)
  length.writeUInt32LE(body.length)
  return Buffer.concat([length, crc32c(length), body, crc32c(body)])
}

const paths = { csv: 'metrics.csv', 'jsonl-file': 'metrics.jsonl', tensorboard: 'logs/events.out.tfevents.1' }
const path = paths[format] ?? ''
if (format !== 'jsonl') {
  mkdirSync('logs', { recursive: true })
  writeFileSync(path, format === 'csv' ? 'epoch,step,loss/train,"a, c"\\n' : '')
}
function write(step, loss, accuracy) {
  if (format === 'csv') appendFileSync(path, '0,' + step + ',' + loss + ',' + accuracy + '\\n')
  if (format === 'jsonl-file') appendFileSync(path, JSON.stringify({ step, loss: { train: loss }, accuracy }) + '\\n')
  if (format === 'tensorboard') appendFileSync(path, Buffer.concat([event(step, 'loss/train', loss), event(step, 'accuracy', accuracy)]))
  if (format === 'jsonl') console.log(JSON.stringify({ step, loss: { train: loss }, accuracy }))
  else console.log('did step ' + step)
}
function save(step) {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'model_' + step)
  writeFileSync(file, String(step))
  console.log(format === 'jsonl' ? JSON.stringify({ saved: file }) : 'saved ' + file)
}
if (folder) save(-1)
for (let step = start; step < until; step++) {
  const loss = Math.fround(1 / 3 / (step + 1)) * (1 + Number(process.env.SHIFT ?? 0))
  write(step, loss, 1 - loss)
  if (folder && step % 4 === 3) save(step)
}
`

const FINDERS = {
  csv: [
    'step_num: { field: step, regex: "step (\\\\d+)" }',
    'loss: { field: loss/train }',
    'accuracy: { field: "a, c" }',
  ],
  'jsonl-file': [
    'step_num: { field: step, regex: "step (\\\\d+)" }',
    'loss: { fields: { train: loss.train } }',
    'accuracy: { field: accuracy }',
  ],
  tensorboard: ['step_num: { regex: "step (\\\\d+)" }', 'loss: { field: loss/train }', 'accuracy: { field: accuracy }'],
  jsonl: ['step_num: { field: step }', 'loss: { field: loss.train }', 'accuracy: { field: accuracy }'],
} as const

type Format = keyof typeof FINDERS

const PATHS = {
  csv: ', path: metrics.csv',
  'jsonl-file': ', path: metrics.jsonl',
  tensorboard: ', path: logs',
  jsonl: '',
}

function config(format: Format): string {
  const set = (key: string) => `{ key: "${key}", set_in_script: true }`
  return `
sourced:
  directory: .
  executable: ["node", "program.mjs"]
  log_output: stdout
  source: { kind: ${format}${PATHS[format]} }
  log_parsing:
    ${FINDERS[format].join('\n    ')}
    model_save: ${format === 'jsonl' ? '{ field: saved }' : '{ regex: "saved (.+)" }'}
  metrics:
    loss: { comparison: "==", tolerance: { kind: exact } }
    accuracy: { comparison: ">=", margin: 0.01 }
  recording: { steps_to_record_after_save: 3 }
  resume_at: next_step
  flags:
    common: { format: { key: "--format", value: ${format} } }
    gather: { checkpoint_output: ${set('--checkpoints')} }
    run: { checkpoint_input: ${set('--resume')}, start_step: ${set('--start')}, run_for: ${set('--until')} }
`
}

async function plannedFor(format: Format): Promise<PlannedTest> {
  const cwd = freshFolder()
  writeFileSync(join(cwd, 'program.mjs'), PROGRAM)
  writeFileSync(join(cwd, 'tests.yml'), config(format))
  const [test] = (await readConvergenceTests(join(cwd, 'tests.yml'), cwd)) as [ConvergenceTest]
  const storage = new Storage(join(cwd, 'storage'), test, cwd)
  await storage.create()
  return { test, cwd, environment: process.env, storage }
}

test.each(['csv', 'jsonl-file', 'tensorboard', 'jsonl'] as const)(
  'metrics from %s are gathered with all digits, pass unchanged and fail where the last digit differs',
  async (format) => {
    const planned = await plannedFor(format)
    expect((await gatherDemo(planned)).error).toBeUndefined()
    const manifest = await planned.storage.manifest()
    expect(manifest.map(({ startStep }) => startStep)).toEqual([0, 3, 7])
    const { results } = manifest[1]!
    expect([...results.keys()]).toEqual([4, 5, 6])
    expect(Number(Object.values(results.get(4)!.loss!)[0])).toBe(Math.fround(1 / 3 / 5))
    expect(listVerdicts(await replayDemo(planned))).toEqual([
      'sourced/ckpt_0 pass',
      'sourced/ckpt_3 pass',
      'sourced/ckpt_7 pass',
    ])
    const [worse] = await replayDemo(withVariables(planned, { SHIFT: '2e-7' }), {}, 'ckpt_3')
    expect([worse!.verdict, worse!.outputs.map(({ verdict }) => verdict)]).toEqual(['fail', ['fail', 'pass']])
  },
)
