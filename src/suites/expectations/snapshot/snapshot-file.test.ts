import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import type { OutputSnapshot, WeightKeys } from './schema.ts'
import { readSnapshot, type SnapshotOwner, snapshotPath, writeSnapshot } from './snapshot-file.ts'

const OWNER: SnapshotOwner = { model: 'org-a/x', target: 'torch:cpu,dtype=bf16' }
const FIGURES = {
  name: 'logits',
  dtype: 'float32' as const,
  shape: [1, 64, 3],
  count: 192,
  mean: 0.1,
  rms: 1 / 3,
  min: Number.NEGATIVE_INFINITY,
  max: Number.NaN,
  nan: 1,
  positive_infinity: 0,
  negative_infinity: 0,
  projections: [1.5, -2],
  top1: { ids: Array.from({ length: 20 }, (_, i) => (i === 3 ? null : i)), margins: Array(20).fill(0.25) },
}
const OUTPUT: OutputSnapshot = {
  captured: '2026-03-01',
  environment: { node: 'v24' },
  runtime: { library: 'torch 2.13.0' },
  model_digest: 'abc',
  inputs: 'token ids 5 to 64',
  padding: 4,
  tolerance: { precision: 'float32', rtol: 1e-3, rel_l2: 1e-4, source: 'float32 whole model (table)' },
  signature: { of: ['logits'], values: [0, 0.5] },
  outputs: [FIGURES],
}
const KEYS: WeightKeys = {
  captured: '2026-03-02',
  environment: {},
  source: 'model.safetensors',
  weights: {
    'lm_head.weight': { dtype: 'float32', shape: [3, 2], sha256: 'ff' },
    'model.norm.weight': { dtype: 'bfloat16', shape: [128256, 4096], sha256: 'f'.repeat(64) },
  },
}

const newPlace = () => snapshotPath(join(freshFolder(), 'expectations'), OWNER)

describe('a snapshot', () => {
  test('that was written is read, with NaN and infinities', async () => {
    const path = newPlace()
    await writeSnapshot(path, OWNER, { output: OUTPUT })
    await writeSnapshot(path, OWNER, { weight_keys: KEYS })
    const { rms, ...exact } = FIGURES
    expect(await readSnapshot(path, OWNER)).toMatchObject({
      ...OWNER,
      output: { ...OUTPUT, outputs: [exact] },
      weight_keys: KEYS,
    })
    expect((await readSnapshot(path, OWNER))?.output?.outputs[0]?.rms).toBeCloseTo(rms, 11)
    expect(readdirSync(join(path, '..'))).toEqual([basename(path)])
  })

  test('is written in the same way again, in lines that can be compared', async () => {
    const path = newPlace()
    await writeSnapshot(path, OWNER, { output: OUTPUT, weight_keys: KEYS })
    const text = readFileSync(path, 'utf8')
    await writeSnapshot(path, OWNER, { output: OUTPUT })
    expect(readFileSync(path, 'utf8')).toBe(text)
    const lines = text.split('\n').map((line) => line.trim())
    expect(lines).toContain('"lm_head.weight": {"dtype":"float32","shape":[3,2],"sha256":"ff"},')
    expect(lines).toContain('"signature": {"of":["logits"],"values":[0,0.5]},')
    expect(lines).toContain('"ids": [0,1,2,null,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19],')
  })

  test('that is not there is null', async () => {
    expect(await readSnapshot(newPlace(), OWNER)).toBeNull()
  })

  test('of another model is refused, wherever it was copied', async () => {
    const other = { ...OWNER, model: 'org-b/x' }
    const path = newPlace()
    await writeSnapshot(path, OWNER, { output: OUTPUT })
    const renamed = snapshotPath(join(path, '..'), other)
    renameSync(path, renamed)
    await expect(readSnapshot(renamed, other)).rejects.toThrow(
      /is the snapshot of org-a\/x on torch:cpu,dtype=bf16, expected org-b\/x on torch/,
    )
  })

  test.each([
    ['{', 'is not JSON'],
    ['{"schema":"assay/expectations@9"}', 'has schema "assay/expectations@9", expected "assay/expectations@1"'],
    [JSON.stringify({ schema: 'assay/expectations@1', ...OWNER, output: {} }), 'output.captured: Invalid input'],
  ])('that is broken says where: %s', async (text, problem) => {
    const path = newPlace()
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
    await expect(readSnapshot(path, OWNER)).rejects.toThrow(problem)
  })
})

describe('its file', () => {
  const nameOf = (model: string, target = 'torch:cpu') => basename(snapshotPath('', { model, target }))

  test('has a name that people recognise', () => {
    expect(nameOf('org-a/x', 'torch:cpu,dtype=bf16')).toMatch(/^org-a-x--torch-cpu-dtype-bf16-[0-9a-f]{8}\.json$/)
  })

  test('is never that of another model or target', () => {
    const owners = ['org-a/x', 'org-b/x', 'org/a-x', 'x', '.x', '..'].flatMap((model) =>
      ['torch:cpu', 'torch:cpu,dtype=bf16', 'torch-cpu'].map((target) => nameOf(model, target)),
    )
    expect(new Set(owners).size).toBe(owners.length)
    expect(owners.every((name) => /^[A-Za-z0-9-][A-Za-z0-9._-]+$/.test(name))).toBe(true)
  })
})
