import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root, temporaryFolder } from '../support/assay.ts'

const TRAIN = join(root, 'examples/convergence/train.mjs')

function train(options: readonly string[], environment: Record<string, string> = {}) {
  const { TRAIN_OPTIONS: _, ...inherited } = process.env
  const ran = spawnSync(process.execPath, [TRAIN, ...options], {
    encoding: 'utf8',
    env: { ...inherited, ...environment },
  })
  return { code: ran.status, stderr: ran.stderr, lines: ran.stdout.split('\n').filter((line) => line !== '') }
}

function stepsOf(options: readonly string[], environment?: Record<string, string>): string[] {
  const { code, stderr, lines } = train(options, environment)
  expect(code, stderr).toBe(0)
  return lines.filter((line) => line.startsWith('Step:'))
}

const lastAccuracy = (steps: readonly string[]) => Number(/Accuracy: (.*)/.exec(steps.at(-1)!)![1])

describe('the training program of examples/convergence', () => {
  test('learns', () => {
    const steps = stepsOf([])
    expect(steps).toHaveLength(200)
    expect(steps[0]).toMatch(/^Step: 0 {2}Loss \(data penalty\): \d\.\d{10,} \d\.\d{10,} {2}Accuracy: \d\.\d+$/)
    expect(lastAccuracy(steps)).toBeGreaterThan(0.95)
  })

  test('25 steps and 25 resumed ones are 50, to the last bit', () => {
    const [whole, parts] = [temporaryFolder('whole'), temporaryFolder('parts')]
    const saving = (folder: string, ...more: string[]) => ['--checkpoint-dir', folder, '--save-every', '25', ...more]
    const all = stepsOf(saving(whole, '--run-until', '50'))
    const first = stepsOf(saving(parts, '--run-until', '25'))
    const resume = ['--resume', join(parts, 'step_24.ckpt'), '--start-step', '25']
    const second = stepsOf(saving(parts, ...resume, '--run-steps', '25'))
    expect(all).toHaveLength(50)
    expect([...first, ...second]).toEqual(all)
    for (const folder of [whole, parts])
      expect(readdirSync(folder).sort()).toEqual(['initial.ckpt', 'step_24.ckpt', 'step_49.ckpt'])
    const saved = (folder: string) => readFileSync(join(folder, 'step_49.ckpt'))
    expect(saved(parts).equals(saved(whole))).toBe(true)
  })

  test('saves before the first step and then after every so many, and says where', () => {
    const folder = temporaryFolder('saves')
    const { lines } = train(['--checkpoint-dir', folder, '--save-every', '3', '--run-steps', '6', '--quiet'])
    const seen = lines.map((line) => /^Step: \d+|^Saving model to: .*/.exec(line)?.[0])
    const saved = (name: string) => `Saving model to: ${join(folder, name)}`
    const steps = [0, 1, 2, 3, 4, 5].map((step) => `Step: ${step}`)
    expect(seen).toEqual([
      saved('initial.ckpt'),
      ...steps.slice(0, 3),
      saved('step_2.ckpt'),
      ...steps.slice(3),
      saved('step_5.ckpt'),
    ])
  })

  test.each([
    ['--learning-rate-factor', '1.03'],
    ['--adam-bug', 'bias-correction'],
    ['--noise-seed', '1'],
    ['--dropout', '0.2'],
  ])('%s %s changes the numbers', (...fault) => {
    const healthy = stepsOf(['--run-steps', '3'])
    const faulty = stepsOf(['--run-steps', '3', ...fault])
    expect(faulty).toHaveLength(3)
    expect(faulty.at(-1)).not.toBe(healthy.at(-1))
    expect(stepsOf(['--run-steps', '3'], { TRAIN_OPTIONS: fault.join(' ') })).toEqual(faulty)
    expect(stepsOf(['--run-steps', '3'])).toEqual(healthy)
  })

  test('another seed makes other data, weights and batches', () => {
    expect(stepsOf(['--seed', '2', '--run-steps', '1'])).not.toEqual(stepsOf(['--run-steps', '1']))
  })

  test('JSON lines and CSV hold the same numbers as the text', () => {
    const file = join(temporaryFolder('csv'), 'metrics.csv')
    const { lines } = train(['--run-steps', '2', '--quiet', '--log', 'json', '--metrics-csv', file])
    const rows = lines.map((line) => Object.values(JSON.parse(line) as Record<string, number>))
    const texts = stepsOf(['--run-steps', '2']).map((line) => line.match(/(?<= )\d[\d.]*/g)!.map(Number))
    expect(rows).toEqual(texts)
    const [header, ...cells] = readFileSync(file, 'utf8').trim().split('\n')
    expect(header).toBe('step,loss_data,loss_penalty,accuracy,checkpoint')
    expect(cells).toEqual(texts.map((numbers) => `${numbers.join(',')},`))
  })

  test('a resumed training that would not be the same is refused', () => {
    const folder = temporaryFolder('refused')
    stepsOf(['--checkpoint-dir', folder, '--save-every', '2', '--run-steps', '2'])
    const checkpoint = join(folder, 'step_1.ckpt')
    const cut = join(folder, 'cut.ckpt')
    writeFileSync(cut, readFileSync(checkpoint).subarray(0, 2000))
    const refusals: readonly (readonly [string[], string])[] = [
      [['--resume', checkpoint, '--start-step', '1'], 'goes on with step 2, not with --start-step 1'],
      [['--resume', checkpoint, '--seed', '5'], 'was trained with --seed 1, not 5'],
      [
        ['--resume', checkpoint, '--run-until', '2'],
        'nothing to do: it would go on with step 2 and stop before step 2',
      ],
      [['--resume', cut], 'has 2000 bytes'],
      [['--resume', TRAIN], 'is not a checkpoint of this program'],
      [['--resume', join(folder, 'none')], 'the checkpoint cannot be read: ENOENT'],
      [['--start-step', '4'], '--start-step 4 needs --resume'],
      [['--checkpoint-dir', join(checkpoint, 'x')], 'checkpoints cannot be written: '],
      [['--lerning-rate-factor', '1.03'], "Unknown option '--lerning-rate-factor'"],
      [['--learning-rate-factor', '0'], '--learning-rate-factor must be a number over 0, not "0"'],
      [['--adam-bug', 'epsilon'], '--adam-bug must be none or bias-correction, not "epsilon"'],
      [['--run-steps', '1', '--run-until', '2'], '--run-until and --run-steps exclude each other'],
    ]
    for (const [options, message] of refusals) {
      const { code, stderr, lines } = train(options)
      expect({ code, lines, stderr }).toEqual({ code: 2, lines: [], stderr: expect.stringContaining(message) })
      expect(stderr).toMatch(/^train\.mjs: .*\n$/)
    }
  })
})
