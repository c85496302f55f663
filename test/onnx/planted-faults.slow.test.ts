import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { realModels } from '../../examples/real-models/real-models.ts'
import {
  contradictions,
  FAULT_KINDS,
  type JudgedRun,
  judgeAndMeasure,
  type MeasuredCase,
  plantFaults,
} from '../faults/planted-faults.ts'
import { assayJson, root } from '../support/assay.ts'

const work = mkdtempSync(join(tmpdir(), 'assay-faults-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const SETUP = ['--config', join(root, 'examples/real-models/assay.config.ts')]
const PLACES = ['--output-dir', join(work, 'runs'), '--cache-dir', join(work, 'cache')]

async function run(path: string, targets: readonly string[], extra: readonly string[]): Promise<JudgedRun> {
  const argv = ['test', path, ...SETUP, ...PLACES, ...extra, ...targets.flatMap((target) => ['--target', target])]
  const report = await assayJson(argv, root)
  return {
    folder: join(work, 'runs', report.run.id),
    results: new Map(report.results.map((result) => [result.target, result])),
  }
}

/** The healthy model on WASM, the faulty ones on the CPU and the first of them on WASM too. */
async function judgeFaulty(id: string, perKind: number): Promise<MeasuredCase[]> {
  const model = realModels.find((candidate) => candidate.id === id)!
  const faults = plantFaults(model, join(work, id), perKind, 1)
  const targets = [
    'healthy=ort-web:wasm',
    ...faults.map(({ name, path }) => `${name}=ort:cpu,model=${path}`),
    ...faults.slice(0, 1).map(({ name, path }) => `${name}-wasm=ort-web:wasm,model=${path}`),
  ]
  return judgeAndMeasure(targets, model.computes, (...parts) => run(model.path, ...parts))
}

const kindsOf = (cases: readonly MeasuredCase[]) =>
  [...new Set(cases.map(({ result }) => result.target.split('-')[0]))].sort()
const failed = (cases: readonly MeasuredCase[]) => cases.filter(({ result }) => result.verdict === 'fail')

describe('faults planted in real models', () => {
  test.each([
    ['ch_ppocr_mobile_v2.0_cls_infer', 2, FAULT_KINDS],
    ['silero_vad_v5', 4, ['bf16', 'bias', 'channels']],
    ['hey_jarvis_v0.1', 4, FAULT_KINDS],
  ])('%s: over tolerance is a fail, within it a pass', async (id, perKind, caught) => {
    const cases = await judgeFaulty(id, perKind)
    expect(cases.flatMap(({ result, loads }) => contradictions(result, loads))).toEqual([])
    expect(cases.filter(({ result }) => result.verdict === 'inconclusive')).toEqual([])
    expect(cases.find(({ result }) => result.target === 'healthy')!.result.verdict).toBe('pass')
    expect(kindsOf(failed(cases))).toEqual([...caught].sort())
    for (const { result } of cases) for (const { relL2 } of result.band ?? []) expect(relL2).toBeLessThan(1e-4)
  })

  test('Moonshine’s int8 encoder: over tolerance is a fail or inside the printed band, never a pass', async () => {
    const cases = await judgeFaulty('encoder_model', 1)
    expect(kindsOf(cases)).toEqual(['bias', 'channels', 'epsilon', 'healthy', 'weight'])
    expect(cases.flatMap(({ result, loads }) => contradictions(result, loads))).toEqual([])
    expect(cases.find(({ result }) => result.target === 'healthy')!.result.verdict).not.toBe('fail')
    expect(failed(cases).length).toBeGreaterThan(0)
  })
})
