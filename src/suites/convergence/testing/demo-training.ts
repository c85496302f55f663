/**
 * A program that "trains": its loss is a formula of the step, its checkpoints hold the last step. MODE says what is
 * wrong with it. It counts from 0 and saves before any step and after each fourth one.
 */
export const DEMO_PROGRAM = `
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
const words = process.argv.slice(2)
const option = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined)
const mode = process.env.MODE ?? ''
const folder = option('--checkpoints')
const resume = option('--resume')
const until = Number(option('--until') ?? 12)
const start = Number(option('--start') ?? 0)
const noise = Number(option('--seed') ?? 0) * 0.001
if (mode === 'crash') { console.error('device lost'); process.exit(3) }
if (mode === 'busy') {
  const count = join(process.cwd(), 'tries')
  let tries = 0
  try { tries = Number(readFileSync(count, 'utf8')) } catch {}
  writeFileSync(count, String(tries + 1))
  if (tries < 1) process.exit(75)
}
if (mode === 'silent') process.exit(0)
if (mode === 'insists' && resume && start !== Number(readFileSync(resume, 'utf8'))) process.exit(5)
if (mode === 'hang') await new Promise(() => setInterval(() => {}, 1000))
const done = resume ? Number(readFileSync(resume, 'utf8')) : -1
function save(step) {
  if (mode === 'unsaved') return
  mkdirSync(folder, { recursive: true })
  const path = join(folder, mode === 'overwrite' ? 'model.ckpt' : 'model_' + step + '.ckpt')
  writeFileSync(path, String(step))
  console.log('Saving model to: ' + path)
}
if (folder && !resume) save(-1)
const late = done >= 0 && start <= done ? done - start + 1 : 0
for (let step = start; step < until; step++) {
  if (mode === 'dies' && step === 9) process.exit(9)
  if (mode === 'few' && step === until - 1) break
  if (mode === 'late' && step < until - 1) continue
  const shift = Number(process.env.SHIFT ?? 0) * (step + 1)
  const loss = mode === 'nan' && step === until - 2 ? NaN : (10 / (step + 1 + late) + noise * ((step * 7919) % 13 - 6)) * (1 + shift)
  const number = mode === 'epochs' ? step % 4 : step
  const name = mode === 'padded' ? String(step).padStart(6, '0') : number
  const accuracy = mode === 'no-accuracy' && step === until - 1 ? '' : ' Accuracy: ' + (1 - 1 / (step + 2))
  const penalty = mode === 'one-label' ? '' : ' / ' + loss / 10
  console.log('Step: ' + name + ' Loss: ' + loss + penalty + accuracy)
  if (folder && (step + 1) % 4 === 0) { save(step); if (mode === 'twice') save(step) }
}
`

const CONFIG = `
demo:
  directory: .
  executable: ["node", "program.mjs"]
  log_output: stdout
  log_parsing:
    step_num: { regex: "Step: (\\\\d+)" }
    model_save: { regex: "Saving model to: (.+)" }
    loss: { regex: "Loss: (\\\\S+)(?: / (\\\\S+))?", labels: ["main", "penalty"] }
    accuracy: { regex: "Accuracy: (\\\\S+)" }
  metrics:
    loss: { margin: 0.1, comparison: "<=" }
    accuracy: { margin: 0.1, comparison: ">=" }
  recording: { steps_to_record_after_save: 3 }
  resume_at: next_step
  timeouts: { idle: 20 }
  flags:
    gather:
      checkpoint_output: { key: "--checkpoints", set_in_script: true }
    run:
      checkpoint_input: { key: "--resume", set_in_script: true }
      start_step: { key: "--start", set_in_script: true }
      run_for: { key: "--until", set_in_script: true }
      seed: { key: "--seed", set_in_script: true }
`

/** A part of the configuration and what stands in its place. */
export type ConfigChange = readonly [from: string, to: string]

/** The configuration of that program. */
export function demoConfig(...changes: readonly ConfigChange[]): string {
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the configuration has no ${from}`)
    return text.replace(from, () => to)
  }, CONFIG)
}
