import { cpSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DOCUMENTED_CONFIG } from '../config/testing/documented-config.ts'
import type { PlannedTest } from '../planned-test.ts'
import { planTest } from './demo-window.ts'

/**
 * Trains one weight, with the options and log lines of the documented configuration. It begins with the step that it is
 * told, which is the last one of its checkpoint. READING=count: `--epochs` of a replay are counted from there, else
 * they are where it ends. RATE makes its steps larger or smaller than they should be; MODE is something else to be wrong.
 */
const PROGRAM = `
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
const words = process.argv.slice(2)
const option = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined)
const { READING, RATE = '1', MODE } = process.env
const resume = option('--onnx-checkpoint')
const folder = option('--checkpoint-dir')
const told = Number(option('--continue-training-from-epoch') ?? 0)
const epochs = Number(option('--epochs'))
const saved = resume ? JSON.parse(readFileSync(resume, 'utf8')) : { weight: 0, step: -1 }
let { weight } = saved
if (resume && MODE === 'crash') process.exit(3)
if (resume && MODE === 'insists' && told !== Math.max(saved.step, 0)) process.exit(5)
const goesOn = resume && saved.step >= 0 && ['after', 'says', 'states'].includes(MODE)
const end = (resume && READING === 'count' ? told + epochs : epochs) - (resume && MODE === 'short' ? 1 : 0)
const targetOf = (step) => 3 + ((step * 7) % 5) / 10
function log(step) {
  const loss = (weight - targetOf(step)) ** 2
  const pair = (of) => of(1).toFixed(4) + ' ' + of(2).toFixed(4)
  console.error('Iteration: ' + step + ' Loss (MLM NSP): ' + pair((n) => loss / n) + ' Accuracy (MLM NSP): ' + pair((n) => 1 / (n + loss)))
}
function save(step) {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'model_' + (step + 1))
  writeFileSync(path, JSON.stringify({ weight, step }))
  // The documented pattern ends a path at its first blank, and a temporary folder may have one.
  console.error('Saving model to: ' + relative('.', path))
}
if (folder && !resume) save(-1)
if (resume && MODE === 'says') console.error('Resuming, Iteration: ' + told)
if (goesOn && MODE === 'states') log(told)
for (let step = told + (goesOn ? 1 : 0); step < end; step++) {
  log(step)
  weight -= 0.1 * Number(RATE) * (weight - targetOf(step))
  if (folder && (step + 1) % Number(option('--epochs-per-save')) === 0) save(step)
}
`

/** The documentation's own, for a program in Node that trains for fifteen epochs and so is saved after steps 4 and 9. */
function configOf(more: string): string {
  const changes = [
    ['directory: applications/bert', 'directory: .'],
    ['"python3"', '"node"'],
    ['"myapp.py"', '"myapp.mjs"'],
    ['value: 200', 'value: 15'],
  ] as const
  const text = changes.reduce((text, [from, to]) => text.replace(from, to), DOCUMENTED_CONFIG)
  return `${text}${more}`
}

/** `more`: lines after those of the documentation. */
export function documentedPlan(more = ''): Promise<PlannedTest> {
  const cwd = mkdtempSync(join(tmpdir(), 'assay-documented-'))
  writeFileSync(join(cwd, 'myapp.mjs'), PROGRAM)
  return planTest(configOf(more), cwd, join(cwd, 'storage'))
}

/** What was gathered, in a folder of its own. */
export async function documentedCopy(planned: PlannedTest, more = ''): Promise<PlannedTest> {
  const copy = await documentedPlan(more)
  cpSync(planned.storage.folder, copy.storage.folder, { recursive: true })
  return copy
}
