import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readLayerThresholds } from '../../src/suites/layers/thresholds/layer-thresholds.ts'
import { assay, fixtures, temporaryFolder } from '../support/assay.ts'

type Numbers = Readonly<Record<string, Readonly<Record<string, number>>>>

/** Files that NumPy and PyTorch wrote as the other tool does, in its form of the document or a later one. */
function folderOf(form: 'document' | 'later') {
  const folder = temporaryFolder('layer csv')
  cpSync(join(fixtures, 'layer-csv', form), join(folder, 'output'), { recursive: true })
  const expected: Numbers = JSON.parse(readFileSync(join(folder, 'output/expected.json'), 'utf8'))
  return { folder, expected }
}

const DOCUMENTED = [
  'thresholds',
  '--models',
  'org/m',
  '--metrics',
  'abs_diff',
  'cos_sim',
  '--file_base',
  'output',
  '--layer_io',
]
const TUPLE = 'model.base_model.layers2.attn.in_proj'

/** `Layer model.norm avg abs_diff = 0.5` by metric and layer. */
function numbersIn(stdout: string): Record<string, Record<string, number>> {
  const numbers: Record<string, Record<string, number>> = {}
  for (const [, layer, metric, value] of stdout.matchAll(/^Layer (\S+) avg (\w+) = (\S+)$/gm)) {
    numbers[metric!] = { ...numbers[metric!], [layer!]: Number(value) }
  }
  return numbers
}

const close = (numbers: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(numbers).map(([layer, value]) => [layer, expect.closeTo(value, 12)]))

const golden = JSON.parse(readFileSync(join(fixtures, 'layer-csv/layers-golden.json'), 'utf8'))

describe('CSV files of another tool', () => {
  test('in the form of the document give its numbers in its words, but for tuples that it did not compare', async () => {
    const { folder, expected } = folderOf('document')
    const { code, stdout, stderr } = await assay(DOCUMENTED, folder)
    expect(code, stderr).toBe(0)
    const { [TUPLE]: _, ...differences } = expected.abs_diff!
    const { [TUPLE]: __, ...cosines } = expected.cos_sim!
    expect(numbersIn(stdout)).toEqual({ abs_diff: close(differences), cos_sim: close(cosines) })
    expect(differences['model.base_model.layers2.ln']).toBeCloseTo(golden.abs_diff_l2_norm, 14)
    expect(stdout.split('\n').filter((line) => line.includes(TUPLE))).toEqual([
      `Layer ${TUPLE} avg abs_diff = not measured`,
      `Layer ${TUPLE} avg cos_sim = not measured`,
    ])
    expect(stderr).toContain('--layer_io is written --layer-io here')
    expect(stderr.replace(/\s+/g, ' ')).toContain('abs_diff: no average but the L2 norm of all differences of a layer')
    expect(stderr.replace(/\s+/g, ' ')).toContain('cos_sim: no cosine but how far the signs of elements agree')
    expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  test('in a later form too, with cosines of rows and limits for each shape', async () => {
    const { folder, expected } = folderOf('later')
    const { code, stdout, stderr } = await assay([...DOCUMENTED, '--documented-json'], folder)
    expect(code, stderr).toBe(0)
    expect(numbersIn(stdout)).toEqual({ abs_diff: close(expected.abs_diff!), cos_sim: close(expected.cos_sim!) })
    expect(expected.cos_sim!['model.base_model.layers2.ln']).toBeCloseTo(golden.cos_sim_avg, 14)
    expect(stderr.replace(/\s+/g, ' ')).toContain('cos_sim: the mean cosine of rows')
    const { layers } = await readLayerThresholds(join(folder, 'output/org--m-layer-thresholds.json'))
    expect(layers.map(({ name, shape, metrics }) => [name, shape, metrics.max_abs!.count])).toEqual([
      [TUPLE, [1, 3, 4], 1],
      ['model.base_model.layers2.ln', [1, 3, 3], 1],
      ['model.base_model.layers10.ln', [1, 3, 4], 1],
      ['model.base_model.layers10.ln', [1, 1, 4], 2],
    ])
    const [, ln] = layers
    expect(ln!.metrics.mean_abs!.value).toBeCloseTo(golden.mean_abs_diff, 14)
    expect(ln!.metrics.least_row_cosine!.value).toBeCloseTo(golden.cos_sim_per_row[2], 14)
    const documented = JSON.parse(readFileSync(join(folder, 'output/org--m-thresholds.json'), 'utf8'))
    expect(documented).toMatchObject({ model_id: 'org--m', abs_diff: close(expected.abs_diff!) })
  })

  test('are those of exactly the model that was asked for', async () => {
    const { folder } = folderOf('document')
    for (const name of readdirSync(join(folder, 'output')).filter((file) => file.endsWith('.csv'))) {
      const metric = /\.(\w+)\.csv$/.exec(name)![1]!
      const value = metric === 'abs_diff' ? '1000' : '1'
      writeFileSync(join(folder, 'output', name.replace('org--m_', 'org--m-big_')), `${metric}\n${value}\n`)
    }
    const { stdout } = await assay(DOCUMENTED, folder)
    expect(Math.max(...Object.values(numbersIn(stdout).abs_diff!))).toBeLessThan(3)
    const big = await assay(
      DOCUMENTED.map((word) => word.replace('org/m', 'org/m-big')),
      folder,
    )
    expect(Object.values(numbersIn(big.stdout).abs_diff!)).toEqual([1000, 1000, Math.sqrt(3e6)])
  })

  test('that lack a layer are said', async () => {
    const { folder } = folderOf('later')
    const prefix = readdirSync(join(folder, 'output'))
      .find((name) => name.endsWith('.csv'))!
      .split('--model.')[0]!
    const other = prefix.replace('batch-size-1', 'batch-size-8')
    writeFileSync(join(folder, 'output', `${other}--${TUPLE}.abs_diff.csv`), 'abs_diff\n1\n')
    const { stdout, stderr } = await assay(DOCUMENTED, folder)
    expect(stderr.replace(/\s+/g, ' ')).toContain(`--….csv has 1 of 3 layers; model.base_model.layers2.ln, `)
    expect(stdout).toContain(`Layer ${TUPLE} avg cos_sim = not measured`)
  })

  test('that are cut end the command, and nothing is written', async () => {
    const { folder } = folderOf('later')
    const [name] = readdirSync(join(folder, 'output')).filter((file) => file.endsWith('.abs_diff.csv'))
    const path = join(folder, 'output', name!)
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, -4))
    const { code, stdout, stderr } = await assay(DOCUMENTED, folder)
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toContain('.abs_diff.csv ends within line')
    expect(readdirSync(join(folder, 'output')).filter((file) => file.endsWith('thresholds.json'))).toEqual([])
  })
})

describe('metrics of layers', () => {
  test('are named by the other tool or by this one', async () => {
    const { folder } = folderOf('later')
    const asked = [
      'thresholds',
      '--layer-io',
      '--metrics-dir',
      'output',
      '--metrics',
      'row_cosine',
      'rmse',
      'cos_sim_avg',
    ]
    const { stdout } = await assay(asked, folder)
    const lines = stdout.split('\n')
    expect(lines[1]).toMatch(/^Layer model\.base_model\.layers2\.ln \(1, 3, 3\) p1 row_cosine = 0\.66620008\d+$/)
    expect(lines[5]).toMatch(/^Layer model\.base_model\.layers2\.ln \(1, 3, 3\) p99 rmse = 0\.7498\d+$/)
    expect(lines[9]).toMatch(/^Layer model\.base_model\.layers2\.ln cos_sim_avg = 0\.66620008\d+$/)
  })

  test('that are unknown, or of whole models, are refused', async () => {
    const { folder } = folderOf('later')
    const refused = await assay(['thresholds', '--layer-io', '--metrics-dir', 'output', '--metrics', 'ce'], folder)
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('unknown metric "ce"')])
    const json = await assay(['thresholds', '--documented-json'], folder)
    expect([json.code, json.stderr]).toEqual([4, expect.stringContaining('--documented-json goes with --layer-io')])
  })

  test('are printed as one JSON document', async () => {
    const { folder } = folderOf('later')
    const { stdout } = await assay([...DOCUMENTED, '--json'], folder)
    const { schema, learnt } = JSON.parse(stdout)
    expect(schema).toBe('assay/learnt-layer-thresholds@1')
    expect(learnt[0]).toMatchObject({ model: 'org--m', files: 10, thresholds: { layers: expect.any(Array) } })
  })
})
