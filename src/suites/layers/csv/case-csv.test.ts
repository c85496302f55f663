import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { promptedFolder } from '../../../../test/support/language-folder.ts'
import { affineModel } from '../../../../test/support/small-models.ts'
import { folderRuntime } from '../../../runtimes/testing/folder-runtime.ts'
import { inProcess } from '../../../runtimes/testing/in-process-ort.ts'
import { type Fault, plantedKind, withNumbers } from '../../../runtimes/testing/planted-fault.ts'
import { folderWith, measureFolders, onlyResult } from '../../testing/judge.ts'
import { learnLayerThresholds } from '../thresholds/learn-layer-thresholds.ts'

const STEPS = 4
const NAMES = ['embedded', 'mask', 'column', 'heard', 'hidden', 'logits']
const OFF: Fault = {
  output: (name, given) => (name === 'hidden' ? withNumbers(given, (value) => 1.5 * value) : given),
}

async function written(mode: 'generate' | 'model-forward', fault = OFF, folder = folderWith(promptedFolder('micro'))) {
  const notices: string[] = []
  const newTokens = mode === 'generate' ? STEPS : 0
  const outcome = await measureFolders(folder, {
    mode,
    reference: 'folders:cpu',
    targets: ['faulty:cpu'],
    paths: ['micro'],
    sizes: { batchSizes: [2], promptLengths: [40], newTokens: [newTokens] },
    kinds: [inProcess('folders', folderRuntime), plantedKind('faulty', fault, folderRuntime)],
    csv: join(folder, 'out/csv'),
    notice: (text) => notices.push(text),
  })
  const prefix = `micro_max-new-tokens-${newTokens}_batch-size-2_seq-length-40_dtype-float32`
  return { folder, notices, prefix, result: onlyResult(outcome) }
}

const filesIn = (folder: string) =>
  existsSync(join(folder, 'out/csv')) ? readdirSync(join(folder, 'out/csv')).sort() : []
const bytesIn = (folder: string) =>
  filesIn(folder)
    .filter((name) => name.endsWith('.csv'))
    .reduce((sum, name) => sum + statSync(join(folder, 'out/csv', name)).size, 0)

async function learn(folder: string, metricsFolder: string) {
  const asked = { models: [], metrics: ['abs_diff', 'cos_sim'], documented: false, machine: {} }
  const [learnt] = await learnLayerThresholds({
    ...asked,
    cwd: folder,
    runsFolder: '',
    metricsFolder,
    outputFolder: '.',
  })
  return learnt!
}

describe.each(['model-forward', 'generate'] as const)('CSV files with --mode %s', (mode) => {
  const steps = mode === 'generate' ? STEPS : 1

  test('are two for each layer and step, with the list of layers beside them', async () => {
    const { folder, prefix, result } = await written(mode)
    expect(result.verdict).toBe('captured')
    const numbers = Array.from({ length: steps }, (_, step) => (step === 0 ? '' : `.iter-${step}`))
    const expected = NAMES.flatMap((name) =>
      numbers.flatMap((number) => ['abs_diff', 'cos_sim'].map((metric) => `${prefix}--${name}${number}.${metric}.csv`)),
    )
    const found = filesIn(folder)
    const half = found.filter((name) => !expected.includes(name))
    expect(half).toEqual([`${prefix}.layers.json`])
    // Padding leaves half rows of the mask.
    const missing = expected.filter((name) => !found.includes(name))
    expect(missing).toEqual([`${prefix}--mask.cos_sim.csv`])
  })

  test('are announced, and no larger than that', async () => {
    const { folder, notices } = await written(mode)
    const [announced] = notices
    const [, files, size] = /^micro: writes (\d+) CSV files, at most about (.+), to out\/csv$/.exec(announced!)!
    expect(notices).toHaveLength(1)
    expect(Number(files)).toBe(12 * steps)
    const [amount, unit] = size!.split(' ')
    const bytes = Number(amount) * { B: 1, KiB: 1024, MiB: 2 ** 20 }[unit as 'B']!
    expect(bytesIn(folder)).toBeLessThan(bytes)
  })

  test('give the same numbers as the list of layers', async () => {
    const { folder, prefix } = await written(mode)
    const list = await learn(folder, 'out/csv')
    expect(list.files).toBe(1)
    renameSync(join(folder, 'out/csv', `${prefix}.layers.json`), join(folder, 'layers.json'))
    const csv = await learn(folder, 'out/csv')
    expect(csv.files).toBe(12 * steps - 1)
    const compared: string[] = []
    for (const layer of list.documented) {
      const { abs_diff, cos_sim, cos_sim_avg } = csv.documented.find(({ name }) => name === layer.name)!.values
      expect(abs_diff).toEqual(expect.closeTo(layer.values.abs_diff as number, 9))
      if (typeof layer.values.cos_sim_avg !== 'number') continue
      expect(cos_sim).toEqual(cos_sim_avg)
      expect(cos_sim_avg).toEqual(expect.closeTo(layer.values.cos_sim_avg, 9))
      compared.push(layer.name)
    }
    expect(compared).toEqual(expect.arrayContaining(['embedded', 'hidden', 'logits']))
    const hidden = (learnt: typeof csv) => learnt.thresholds.layers.find(({ name }) => name === 'hidden')!
    for (const metric of ['mean_abs', 'max_abs', 'l2', 'rmse', 'row_cosine', 'least_row_cosine']) {
      const [one, two] = [hidden(csv), hidden(list)].map(({ metrics }) => metrics[metric]!)
      expect([one!.value, one!.count]).toEqual([expect.closeTo(two!.value, 9), two!.count])
    }
    expect(hidden(list).metrics.max_abs!.value).toBeGreaterThan(0)
  })

  test('are never written over, which is said', async () => {
    const { folder, prefix } = await written(mode, {})
    const before = filesIn(folder).map((name) => readFileSync(join(folder, 'out/csv', name), 'utf8'))
    rmSync(join(folder, 'out/csv', `${prefix}--heard.abs_diff.csv`))
    const { notices } = await written(mode, {}, folder)
    expect(notices[1]).toBe(`micro: wrote 1 CSV files; ${12 * steps - 2} were in out/csv already and stay as they were`)
    expect(filesIn(folder).map((name) => readFileSync(join(folder, 'out/csv', name), 'utf8'))).toEqual(before)
  })

  test('are not there after a run that failed', async () => {
    const refuse = () => {
      throw new Error('out of memory')
    }
    const fault = {
      output: (name: string, given: Parameters<typeof withNumbers>[0]) => (name === 'hidden' ? refuse() : given),
    }
    const { folder, result } = await written(mode, fault as Fault)
    expect([result.verdict, filesIn(folder)]).toEqual(['error', []])
  })

  test('that cannot be written are an error that says what to do', async () => {
    const folder = folderWith(promptedFolder('micro'))
    mkdirSync(join(folder, 'out'))
    writeFileSync(join(folder, 'out/csv'), '')
    const { result } = await written(mode, OFF, folder)
    expect(result.error?.message).toContain('is a file where a folder was expected')
  })
})

test('an ONNX model has none, which is said', async () => {
  const folder = folderWith({ 'm.onnx': affineModel() })
  const notices: string[] = []
  const outcome = await measureFolders(folder, {
    reference: 'ort:cpu',
    targets: ['ort:cpu,optimization=disabled'],
    paths: ['m.onnx'],
    csv: join(folder, 'out/csv'),
    notice: (text) => notices.push(text),
  })
  expect([onlyResult(outcome).verdict, filesIn(folder)]).toEqual(['captured', []])
  expect(notices).toEqual(['m: no CSV files are written of ONNX models; layers.json has the figures of all tensors'])
})
