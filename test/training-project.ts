import { execFileSync } from 'node:child_process'
import { project } from './assay.ts'

/**
 * A program that "trains": its loss is a formula of the step, its checkpoints hold the last step. MODE says what is
 * wrong with it, NOW_AND_THEN has values of one more metric by step. It counts from 0 and saves before any step and after each fourth one.
 */
const PROGRAM = `
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
const words = process.argv.slice(2)
const option = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined)
const mode = process.env.MODE ?? ''
const folder = option('--checkpoints')
const resume = option('--resume')
const until = Number(option('--until') ?? 12)
const start = Number(option('--start') ?? 0)
const noise = Number(option('--seed') ?? 0) * 0.001 * Number(process.env.NOISE ?? 1)
if (mode === 'crash') { console.error('device lost'); process.exit(3) }
if (mode === 'busy' && !process.env.TRIED) {
  const count = join(process.cwd(), 'tries')
  let tries = 0
  try { tries = Number(readFileSync(count, 'utf8')) } catch {}
  writeFileSync(count, String(tries + 1))
  if (tries < 1) process.exit(75)
}
if (mode === 'silent') process.exit(0)
if (mode === 'hang') await delay(600000)
const unfinished = []
const done = resume ? Number(readFileSync(resume, 'utf8')) : -1
function save(step) {
  if (mode === 'unsaved') return
  mkdirSync(folder, { recursive: true })
  const path = join(folder, mode === 'overwrite' ? 'model.ckpt' : 'model_' + step + '.ckpt')
  const finish = () => writeFileSync(path, String(step))
  if (mode === 'half') writeFileSync(path, '')
  if (mode === 'half' || mode === 'later') unfinished.push(finish)
  else finish()
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
  const now = JSON.parse(process.env.NOW_AND_THEN ?? '{}')[step]
  const text = 'Step: ' + name + ' Loss: ' + loss + (process.env.AFTER ?? '') + penalty + accuracy + (now === undefined ? '' : ' Val: ' + now)
  console.log(mode === 'renamed' ? text.replace('Loss', 'Verlust').replace('Accuracy', 'Treffer') : text)
  if (folder && step % 4 === 3 && unfinished.length > 0) {
    // The window has ended and was written down.
    await delay(300)
    unfinished.shift()()
  }
  if (folder && (step + 1) % 4 === 0) { save(step); if (mode === 'twice') save(step) }
}
for (const finish of unfinished) finish()
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

export const MANIFEST = 'storage/demo_convergence_harness_manifest.json'
export const SIDECAR = 'storage/demo_convergence_harness_manifest.assay.json'
export const GATHER = ['converge', '-t', 'tests.yml', '-s', 'storage', '-g']
export const REPLAY = ['converge', '-t', 'tests.yml', '-s', 'storage']

/** A project with the program and its configuration; changes are made to the latter. */
export function trainingProject(...changes: (readonly [string, string])[]): string {
  const config = changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the configuration has no ${from}`)
    return text.replace(from, to)
  }, CONFIG)
  return project({ 'program.mjs': PROGRAM, 'tests.yml': config })
}

/** Commits the program, in a new repository where there is none; gives the commit. */
export function commitTraining(folder: string, message: string): string {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, encoding: 'utf8' }).trim()
  git('init', '--quiet')
  git('add', 'program.mjs')
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  git(...author, 'commit', '--quiet', '--allow-empty', '-m', message)
  return git('rev-parse', 'HEAD')
}
