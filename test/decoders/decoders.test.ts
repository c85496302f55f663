import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { testDecoders } from '../../src/index.ts'
import { assay, assayJson, project } from '../support/assay.ts'

const LONG_MS = 240_000
const folder = project()
const SMALL = ['--batch-size', '2', '--prompt-length', '16', '--max-new-tokens', '8', '--tokens-per-sequence', '32']
const ID = 'healthy/b2/s16/n8'

const decode = (args: readonly string[], env = {}) => assayJson(['decoders', 'test', ...args, ...SMALL], folder, env)

/** Random weights whose logits differ by about as much as those of a trained model do. */
async function micro(name: string, ...more: string[]): Promise<void> {
  const { code, stderr } = await assay(['micro', 'llama', '--layers', '2', '-o', name, ...more], folder)
  expect(code, stderr).toBe(0)
}

beforeAll(async () => {
  await micro('healthy', '--dtype', 'fp16')
  await micro('other', '--seed', '7')
}, LONG_MS)

describe('a decoder', () => {
  test(
    'that gives the reference’s tokens and logits passes, with both kinds of figures',
    async () => {
      const { code, results, stderr } = await decode(['healthy'])
      expect(code, stderr).toBe(0)
      const [result] = results
      expect(result).toMatchObject({
        id: `${ID}@ort-web:wasm`,
        suite: 'decoders',
        verdict: 'pass',
        reference: 'ort:cpu',
        flags: ['default-thresholds'],
        measurements: { 'decoders.batches': '4 of 4', 'decoders.sequences': 8, 'decoders.prompts': 'bundled prompts' },
      })
      expect(result!.coverage.compared).toBe(result!.coverage.expected)
      expect(result!.figures![0]).toBe('tokens: 8 of 8 sequences are equal')
      expect(result!.figures![1]).toContain('diff_mean 0 of')
      const names = result!.metrics.map(({ name }) => name)
      expect(names).toEqual(
        expect.arrayContaining([
          'mean_diff_failure_rate',
          'cross_entropy_loss_failure_rate',
          'top1_agreement',
          'kl_tail_p99',
        ]),
      )
      expect(stderr).toContain('are used; learn its own with assay decoders baseline')
    },
    LONG_MS,
  )

  test(
    'of other weights fails, says where the tokens part and keeps both traces',
    async () => {
      const { code, results, stderr } = await decode(['healthy', '--target', 'wrong=ort:cpu,model=other'])
      expect(code, stderr).toBe(1)
      const [result] = results
      expect(result).toMatchObject({ id: `${ID}@wrong`, verdict: 'fail' })
      expect(result!.figures![0]).toMatch(
        /^tokens: 0 of \d sequences are equal; the earliest that differs: sequence \d at token 0/,
      )
      const labels = result!.texts![0]!.lines.map(({ label }) => label)
      expect(labels).toEqual(['prompt', 'reference', 'target', 'top 5', ''])
      expect(result!.texts![0]!.lines[2]!.text).toContain('▸')
      expect(result!.artifacts.map(({ name }) => name)).toEqual(['reference.0.safetensors', 'target.0.safetensors'])
      expect(result!.flags).toContain('stopped-early')
      expect(result!.reproduce).toContain(
        'assay decoders test healthy --target wrong=ort:cpu,model=other --batch-size 2',
      )
    },
    LONG_MS,
  )

  test(
    'is judged again by the command that its result names',
    async () => {
      const { results } = await decode(['healthy', '--target', 'wrong=ort:cpu,model=other', '--all'])
      const words = results[0]!.reproduce
        .split(' ')
        .slice(1)
        .map((word) => word.replace(/^'|'$/g, ''))
      const again = await assayJson([...words], folder)
      expect(again.code, again.stderr).toBe(1)
      expect(again.results[0]!.metrics).toEqual(results[0]!.metrics)
    },
    LONG_MS,
  )

  test(
    'may be judged over the whole vocabulary',
    async () => {
      const { code, results, stderr } = await decode([
        'healthy',
        '--target',
        'half=ort:cpu,variant=fp16',
        '--logits',
        'full',
        '--gate',
        'rate',
        '--metrics-threshold',
        '4,0.05',
      ])
      expect(code, stderr).toBe(0)
      const metric = (name: string) => results[0]!.metrics.find((each) => each.name === name)!.value!
      expect(metric('full_kl_mean')).toBeGreaterThan(0)
      // The largest twenty and a bucket for the others tell nearly all of it.
      expect(metric('kl_tail_mean')).toBeLessThanOrEqual(metric('full_kl_mean') * 1.001)
    },
    LONG_MS,
  )

  test(
    'passes on equal tokens alone where that is asked for',
    async () => {
      const args = ['healthy', '--tokens-only', '--metrics-threshold', '1e-9,1e-9']
      const { code, results } = await decode(args)
      expect(code).toBe(0)
      expect(results[0]).toMatchObject({ verdict: 'pass', reason: expect.stringContaining('equal tokens') })
      expect(results[0]!.measurements['decoders.batches']).toBe('1 of 4')
      const forced = await decode([...args, '--force-logits'])
      expect(forced.code).toBe(1)
    },
    LONG_MS,
  )

  test('has a case for every shape, which its documented name selects', async () => {
    const lists = ['--batch-size', '1,2', '--prompt-length', '16,32', '--max-new-tokens', '8']
    const all = await assay(['decoders', 'test', 'healthy', ...lists, '--list'], folder)
    expect(all.stdout.trim().split('\n')).toEqual([
      'healthy/b1/s16/n8@ort-web:wasm',
      'healthy/b1/s32/n8@ort-web:wasm',
      'healthy/b2/s16/n8@ort-web:wasm',
      'healthy/b2/s32/n8@ort-web:wasm',
    ])
    const one = await assay(
      ['decoders', 'test', 'healthy', ...lists, '--list', '-k', 'test_common_shapes[healthy-2-32-8]'],
      folder,
    )
    expect(one.stdout.trim()).toBe('healthy/b2/s32/n8@ort-web:wasm')
  })

  test(
    'is part of assay run where the configuration names it',
    async () => {
      const config = {
        decoders: { models: ['../healthy'], batchSize: 2, promptLength: 16, maxNewTokens: 8, tokensPerSequence: 8 },
      }
      const place = project({ 'sub/assay.config.json': JSON.stringify(config) })
      writeFileSync(
        join(folder, 'assay.decoders.json'),
        JSON.stringify({ decoders: { ...config.decoders, models: ['healthy'] } }),
      )
      const { code, results, stderr } = await assayJson(['run', '--config', 'assay.decoders.json'], folder)
      expect(code, stderr).toBe(0)
      expect(results.map(({ id }) => id)).toEqual([`${ID}@ort-web:wasm`])
      const elsewhere = await assay(['run', '--config', 'sub/assay.config.json'], place)
      expect(elsewhere.code).toBe(4)
    },
    LONG_MS,
  )
})

describe('a baseline', () => {
  const BASELINE = 'ort:cpu,variant=fp16'
  const learn = () => assay(['decoders', 'baseline', 'healthy', '--baseline', BASELINE, ...SMALL], folder)
  const thresholds = 'metrics/healthy-thresholds.json'

  beforeAll(async () => {
    const { code, stdout, stderr } = await learn()
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('1 captured')
    const made = await assay(
      ['thresholds', '--models', 'healthy', '--metrics', 'diff_mean', 'ce', '--file_base', 'metrics'],
      folder,
    )
    expect(made.code, made.stderr).toBe(0)
    expect(made.stdout).toMatch(
      /^found 1 metric files\nhealthy diff_mean [\d.e-]+\nfound 1 metric files\nhealthy ce [\d.]+\n/,
    )
  }, LONG_MS)

  test(
    'is written in the documented layout, and taken from the cache when it is asked for again',
    async () => {
      const prefix = 'healthy_max-new-tokens-8_batch-size-2_seq-length-16_dtype-fp32'
      const names = ['ce.csv', 'diff_mean.csv', 'prob_mean.csv', 'prob_std.csv', 'sequences.json'].map(
        (end) => `${prefix}.${end}`,
      )
      expect(readdirSync(join(folder, 'metrics')).filter((name) => name.startsWith(prefix))).toEqual(names)
      const before = readFileSync(join(folder, 'metrics', names[0]!), 'utf8')
      const again = await learn()
      expect(again.stdout).toContain('8 of 8 traces were taken from the cache')
      expect(readFileSync(join(folder, 'metrics', names[0]!), 'utf8')).toBe(before)
    },
    LONG_MS,
  )

  test(
    'lets a target pass that is as noisy, and fails one that is not',
    async () => {
      const targets = ['--target', 'alike=ort:cpu,variant=fp16,threads=2', '--target', 'wrong=ort:cpu,model=other']
      const { code, results, stderr } = await decode(['healthy', '--thresholds', thresholds, ...targets])
      expect(code, stderr).toBe(1)
      const [alike, wrong] = results
      expect(alike).toMatchObject({ verdict: 'pass', measurements: { 'decoders.gate': 'paired' } })
      expect(alike!.figures![1]).toMatch(/^paired: 1(\.\d+)? times the baseline's error on 8 sequences, 99 % bounds /)
      expect(wrong).toMatchObject({ verdict: 'fail' })
    },
    LONG_MS,
  )

  test(
    'may decode in the same run',
    async () => {
      const { code, results, stderr } = await decode([
        'healthy',
        '--gate',
        'three-way',
        '--baseline',
        BASELINE,
        '--target',
        'alike=ort:cpu,variant=fp16,threads=2',
      ])
      expect(code, stderr).toBe(0)
      expect(results[0]).toMatchObject({ verdict: 'pass', measurements: { 'decoders.gate': 'three-way' } })
    },
    LONG_MS,
  )

  test('is not taken for another model’s', async () => {
    const { code, stderr } = await assay(['decoders', 'test', 'other', '--thresholds', thresholds, ...SMALL], folder)
    expect(code).toBe(4)
    expect(stderr).toContain('the thresholds are for "healthy", not for other')
  })
})

describe('a stored reference', () => {
  test(
    'is used where it belongs, refused where it does not, and an error where it was changed',
    async () => {
      const stored = ['--validation-info-dir', 'traces']
      expect((await decode(['healthy', ...stored, '--save-traces'])).code).toBe(0)
      const names = readdirSync(join(folder, 'traces'))
      expect(names.filter((name) => name.endsWith('.trace.json')).length).toBe(8)
      const again = await decode(['healthy', ...stored, '--recompute'])
      const decoded = again.results[0]!.steps.filter(({ title }) => title === 'decode on ort:cpu')
      expect([again.code, decoded]).toEqual([0, []])
      const other = await decode(['other', ...stored])
      expect(other.stderr).toMatch(/is not used: it differs in modelDigest/)
      for (const name of names.filter((each) => each.endsWith('.safetensors'))) {
        const path = join(folder, 'traces', name)
        const bytes = readFileSync(path)
        bytes[bytes.length - 1]! ^= 1
        writeFileSync(path, bytes)
      }
      const changed = await decode(['healthy', ...stored])
      expect(changed.results[0]).toMatchObject({ verdict: 'error' })
      expect(changed.results[0]!.error!.message).toContain('does not match its manifest')
    },
    LONG_MS,
  )
})

describe('what cannot be decoded is refused in one line', () => {
  test.each([
    [['tset', 'healthy'], 'unknown subcommand "tset" of assay decoders; did you mean "test"?'],
    [['healthy/'], 'write assay decoders test healthy/'],
    [[], 'missing subcommand: use assay decoders test or assay decoders baseline'],
    [['test'], 'no model to decode with; give a Hugging Face folder or an id'],
    [['test', 'healthy', '--gate', 'pared'], '--gate "pared"; did you mean "paired"?'],
    [['test', 'healthy', '--gate', 'paired'], '--gate paired needs the output of the baseline on the same prompts'],
    [['test', 'healthy', '--batch-size', '0'], '--batch-size takes whole numbers from 1 up, found "0"'],
    [['test', 'healthy', '--max-new-tokens', '4096'], 'is more than --tokens-per-sequence 1024, so no batch fits'],
    [['test', 'healthy', '--metrics-threshold', '3'], '--metrics-threshold takes two numbers over 0'],
    [['test', 'healthy', '--failure-rate', '2'], '--failure-rate takes a number over 0 and at most 1'],
    [['test', 'healthy', '--thresholds', 'nowhere.json'], '--thresholds nowhere.json does not exist'],
    [['test', 'healthy', '--prompts', 'nowhere.txt'], 'nowhere.txt does not exist'],
    [['test', './helthy', '--offline'], 'healthy'],
    [['test', 'healthy', '--target', 'ort:cpu'], 'is its own reference'],
    [['test', 'healthy', '--save-traces'], '--save-traces needs --validation-info-dir'],
  ])('%j', async (words, message) => {
    const { code, stderr } = await assay(['decoders', ...words], folder)
    expect(stderr).toContain(message)
    expect(code).toBe(4)
    expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2)
  })

  test('more positions than the model has are an error of the case', async () => {
    const args = ['decoders', 'test', 'healthy', '--prompt-length', '4000', '--max-new-tokens', '128']
    const { code, results } = await assayJson(args, folder)
    expect(code).toBe(1)
    expect(results[0]!.error).toMatchObject({ stage: 'inputs', message: expect.stringContaining('4096 positions') })
  })
})

test(
  'a program judges decoders with a function of the package',
  async () => {
    const options = { cwd: folder, batchSize: 2, promptLength: 16, maxNewTokens: 8, tokensPerSequence: 8 }
    const { results, exitCode } = await testDecoders('healthy', { ...options, target: 'ort:cpu,threads=2' })
    expect(exitCode).toBe(0)
    expect(results.map(({ id }) => id)).toEqual([`${ID}@ort:cpu,threads=2`])
    await expect(testDecoders('healthy', Object({ ...options, promtLength: 3 }))).rejects.toThrow(
      'did you mean "promptLength"?',
    )
  },
  LONG_MS,
)
