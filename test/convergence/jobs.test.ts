import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { assay, assayJson, ended, project, startAssay } from '../support/assay.ts'
import { said, until } from '../support/events.ts'
import { recordedTraining } from '../support/recorded-training.ts'
import { GATHER, REPLAY } from '../support/training-project.ts'

const turns = (folder: string) => (existsSync(join(folder, 'turns')) ? readFileSync(join(folder, 'turns'), 'utf8') : '')

/** Says when it begins and ends, waits for so many that have begun, and until the gate is there. */
const TAKES_TURNS = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
appendFileSync('turns', 'begin ')
process.on('exit', () => appendFileSync('turns', 'end '))
const { AT_ONCE = '1', GATE } = process.env
while (readFileSync('turns', 'utf8').split('begin').length - 1 < Number(AT_ONCE)) await delay(10)
while (GATE !== undefined && !existsSync(GATE)) await delay(10)
await import('./demo.mjs')
`

describe('programs that print their metrics', () => {
  let folder: string
  beforeAll(async () => {
    folder = await recordedTraining()
    cpSync(join(folder, 'program.mjs'), join(folder, 'demo.mjs'))
    writeFileSync(join(folder, 'program.mjs'), TAKES_TURNS)
  })

  const replaying = (env: Record<string, string>, ...more: string[]) => {
    rmSync(join(folder, 'turns'), { force: true })
    return startAssay([...REPLAY, ...more], folder, env)
  }

  test('run one after the other, in the order of their steps', async () => {
    const { stdout } = await ended(replaying({}))
    expect(turns(folder)).toBe('begin end begin end begin end ')
    expect(stdout).toMatch(/\[1\/3].*ckpt_0.*\n\[2\/3].*ckpt_3.*\n\[3\/3].*ckpt_7/)
  })

  test('run beside each other where --jobs says so', async () => {
    expect((await ended(replaying({ AT_ONCE: '3' }, '--jobs', '3'))).code).toBe(0)
    expect(turns(folder)).toBe('begin begin begin end end end ')
  })

  test('-x starts none after the first failure', async () => {
    const { stdout } = await ended(replaying({ SHIFT: '9' }, '-x'))
    expect(stdout).toMatch(/^1 failed in/m)
    expect(turns(folder)).toBe('begin end ')
  })

  test('Ctrl-C finishes the one that runs and starts no other', async () => {
    const child = replaying({ GATE: 'gate' })
    const end = ended(child)
    const heard = said(child.stderr, 'finishing running cases')
    await until(() => turns(folder) !== '', 'the first test has begun')
    child.kill('SIGINT')
    await heard
    writeFileSync(join(folder, 'gate'), '')
    const { code, stdout } = await end
    expect(stdout).toMatch(/^interrupted; 1 of 3 cases have a result$/m)
    expect([code, turns(folder)]).toEqual([2, 'begin end '])
  })

  test('in assay run too', async () => {
    rmSync(join(folder, 'turns'), { force: true })
    const section = { testConfigPath: 'tests.yml', storagePath: 'storage' }
    writeFileSync(join(folder, 'assay.config.json'), JSON.stringify({ convergence: [section] }))
    expect((await assay(['run'], folder)).code).toBe(0)
    expect(turns(folder)).toBe('begin end begin end begin end ')
  })
})

describe('programs that write their metrics to one file', () => {
  const PROGRAM = `
    import { appendFileSync, writeFileSync } from 'node:fs'
    import { setTimeout as delay } from 'node:timers/promises'
    const words = process.argv.slice(2)
    const option = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined)
    const start = Number(option('--start') ?? 0)
    const isSilent = process.env.SILENT !== undefined && start === Number(process.env.SILENT)
    appendFileSync('turns', 'begin ')
    process.on('exit', () => appendFileSync('turns', 'end '))
    for (let step = start; step < 12; step++) {
      await delay(isSilent ? 30 : 10)
      if (isSilent) continue
      appendFileSync('metrics.jsonl', JSON.stringify({ step, loss: 1 / (step + 1) }) + '\\n')
      console.log('step ' + step)
      if (!option('--out') || step % 4 !== 3) continue
      const file = option('--out') + '/' + option('--name') + '_' + step
      writeFileSync(file, String(step))
      console.log('saved ' + file)
    }`

  const config = (name: string) => `
${name}:
  directory: .
  executable: [node, program.mjs, --name, ${name}]
  log_output: stdout
  source: { kind: jsonl-file, path: metrics.jsonl }
  log_parsing:
    step_num: { field: step, regex: 'step (\\d+)' }
    model_save: { regex: 'saved (.+)' }
    loss: { field: loss }
  metrics: { loss: { tolerance: { kind: exact } } }
  recording: { steps_to_record_after_save: 3 }
  resume_at: next_step
  flags:
    gather: { checkpoint_output: { key: --out } }
    run: { checkpoint_input: { key: --in }, start_step: { key: --start }, run_for: { key: --until } }
`

  test('never run at once, whatever --jobs says: one would be judged by what the other wrote', async () => {
    const folder = project({ 'program.mjs': PROGRAM, 'tests.yml': config('one') + config('two') })
    const gathered = await assay([...GATHER, '--jobs', '2'], folder)
    expect(gathered.code, gathered.stdout + gathered.stderr).toBe(0)
    expect(turns(folder)).toBe('begin end begin end ')
    const args = [...REPLAY, '--jobs', '4', '-k', 'one and (ckpt_3 or ckpt_7)']
    const { results } = await assayJson(args, folder, { SILENT: '8' })
    expect(results.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual(['one/ckpt_3 pass', 'one/ckpt_7 error'])
  })
})
