import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { type DecoderFaultKind, plantDecoderFault } from '../faults/decoder-faults.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'

const LONG_MS = 240_000
const SHAPE = ['--batch-size', '4', '--prompt-length', '32', '--max-new-tokens', '32', '--tokens-per-sequence', '192']

/** About twice the error of float16, which is the noise here. */
const FAULTS: Readonly<Partial<Record<DecoderFaultKind, number>>> = {
  'attention-scale': 0.0025,
  'stale-slot': 0.0022,
  'swapped-heads': 0.0048,
  'rotary-base': 0.0048,
  'bf16-sums': 1,
  'rounded-weights': 0.0008,
}

/** At least twice that error in the part that they hit, where the rest of the batch is exact. */
const PART_FAULTS: Readonly<Partial<Record<DecoderFaultKind, [size: number, where: RegExp]>>> = {
  'rows-scale': [0.001, / in row [23] of the batch /],
  'padded-scale': [0.002, / on one prompt, /],
  'prefill-scale': [0.001, / at token 0 /],
  'row-cache': [0.002, / in row 3 of the batch /],
  'rows-gelu': [0.03, / in row [23] of the batch /],
  'row-positions': [3, / on one prompt, /],
}

const folder = project()
const results = new Map<string, Result>()
let exitCode: number | null = null

async function learnNoise(): Promise<void> {
  const baseline = ['--baseline', 'ort:cpu,variant=fp16', ...SHAPE]
  const learnt = await assay(['decoders', 'baseline', 'shakespeare', ...baseline], folder)
  expect(learnt.code, learnt.stderr).toBe(0)
  const made = await assay(['thresholds', '--model', 'shakespeare', '--metrics', 'ce', 'diff_mean'], folder)
  expect(made.code, made.stderr).toBe(0)
}

/** Targets that run the export with one fault each. */
function plantAll(): string[] {
  const healthy = new Uint8Array(readFileSync(join(folder, 'shakespeare/onnx/model.onnx')))
  const parts = Object.fromEntries(Object.entries(PART_FAULTS).map(([kind, [size]]) => [kind, size]))
  const faults = Object.entries({ ...FAULTS, ...parts, 'nan-weights': 1 }) as [DecoderFaultKind, number][]
  return faults.map(([kind, size]) => {
    writeFileSync(join(folder, `${kind}.onnx`), plantDecoderFault(healthy, kind, size))
    return `${kind}=ort:cpu,model=${kind}.onnx`
  })
}

beforeAll(async () => {
  cpSync(join(root, 'examples/decoders/shakespeare'), join(folder, 'shakespeare'), { recursive: true })
  await learnNoise()
  const targets = ['healthy=ort:cpu,optimization=disabled', ...plantAll()].flatMap((spec) => ['--target', spec])
  const thresholds = ['--thresholds', 'metrics/shakespeare-thresholds.json']
  const judged = await assayJson(['decoders', 'test', 'shakespeare', ...thresholds, ...SHAPE, ...targets], folder)
  exitCode = judged.code
  for (const result of judged.results) results.set(result.target, result)
}, LONG_MS)

const ratioOf = ({ metrics }: Result) => metrics.find(({ name }) => name === 'error_ratio')?.value

describe('a trained decoder', () => {
  test('passes where it is healthy', () => {
    expect(results.get('healthy')).toMatchObject({ verdict: 'pass', measurements: { 'decoders.gate': 'paired' } })
    expect(exitCode).toBe(1)
  })

  test.each(Object.keys(FAULTS))('fails with a fault of about twice the noise: %s', (kind) => {
    const result = results.get(kind)!
    expect(result.verdict, result.reason).toBe('fail')
    expect(ratioOf(result)).toBeGreaterThan(1.6)
    expect(ratioOf(result)).toBeLessThan(2.8)
  })

  test.each(Object.entries(PART_FAULTS))('fails where a part of the batch has one: %s', (kind, [, where]) => {
    const result = results.get(kind)!
    expect(result.verdict, result.reason).toBe('fail')
    expect(result.reason).toMatch(where)
  })

  test('fails with one weight that is no number', () => {
    const result = results.get('nan-weights')!
    expect(result.verdict).toBe('fail')
    expect(result.reason).toMatch(/^the target gives NaN or infinite logits at \d+ tokens/)
  })
})
