import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { languageFolder } from '../../../../test/support/language-folder.ts'
import { folderRuntime } from '../../../runtimes/testing/folder-runtime.ts'
import { inProcess } from '../../../runtimes/testing/in-process-ort.ts'
import { plantedKind, withNumbers } from '../../../runtimes/testing/planted-fault.ts'
import { folderWith, judgeFolders, measureFolders } from '../../testing/judge.ts'
import { learnLayerThresholds } from './learn-layer-thresholds.ts'

const SIDES = { reference: 'folders:cpu', shapes: [{ match: '**', dims: { length: [3] } }] }
const KINDS = [
  inProcess('folders', folderRuntime),
  plantedKind('faulty', { output: (_, given) => withNumbers(given, (value) => 1.25 * value) }, folderRuntime),
]

test('limits are learnt from a run: its folder, its name, or the last that measured layers', async () => {
  const folder = folderWith(languageFolder('micro'))
  const asked = { ...SIDES, kinds: KINDS }
  const measured = await measureFolders(folder, { ...asked, targets: ['faulty:cpu'] })
  const runsFolder = dirname(measured.folder)
  const other = await judgeFolders(folder, { ...asked, targets: ['faulty:cpu'] })
  expect(dirname(other.folder)).toBe(runsFolder)
  const request = { cwd: folder, runsFolder, models: [], metrics: [], outputFolder: undefined, machine: {} }
  const learn = async (metricsFolder: string | undefined) =>
    (await learnLayerThresholds({ ...request, documented: false, metricsFolder }))[0]!
  for (const word of [measured.folder, basename(measured.folder), 'last~1', undefined]) {
    const { model, place, thresholds, paths } = await learn(word)
    expect([model, place]).toEqual(['micro', `run ${basename(measured.folder)}`])
    expect(thresholds).toMatchObject({ mode: 'model-forward', reference: 'folders:cpu', baseline: 'faulty:cpu' })
    const logits = thresholds.layers.find(({ name }) => name === 'logits')!
    expect(logits.metrics.rel_l2!.value).toBeCloseTo(0.25, 6)
    expect(paths).toEqual([join(folder, 'micro-layer-thresholds.json')])
  }
  expect(readdirSync(folder)).toContain('micro-layer-thresholds.json')
  await expect(learn('last')).rejects.toThrow(`run ${basename(other.folder)} measured no layers; assay layers does`)
})
