import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { realModels } from '../../examples/real-models/real-models.ts'
import { randomStream } from '../../src/models/random.ts'
import { testTarget } from '../../src/runtimes/testing/in-process-ort.ts'
import { readLayersFile } from '../../src/suites/layers/layers-file.ts'
import { folderWith, measureFolders, onlyResult } from '../../src/suites/testing/judge.ts'
import { faultPlaces } from '../faults/faults.ts'

const COUNT = 20
const { path, dims } = realModels.find(({ id }) => id === 'ch_ppocr_mobile_v2.0_cls_infer')!
const sizes = Object.fromEntries(Object.entries(dims).map(([name, size]) => [name, [size]]))

/** Weights of so many nodes, each of them drawn once. */
function drawPlaces() {
  const random = randomStream(0, 'measured faults')
  const places = faultPlaces(new Uint8Array(readFileSync(path))).filter(({ kind }) => kind === 'channels')
  return places
    .map((place) => ({ place, order: random.unit() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, COUNT)
    .map(({ place }) => place)
}

test('in 20 of 20 nodes of a real model, a fault is made there and came into what follows', async () => {
  const places = drawPlaces()
  expect(places).toHaveLength(COUNT)
  for (const { where, plant } of places) {
    const folder = folderWith({ 'm.onnx': readFileSync(path), 'faulty.onnx': plant() })
    const outcome = await measureFolders(folder, {
      reference: 'ort:cpu',
      targets: ['ort:cpu,optimization=disabled,model=faulty.onnx'],
      paths: ['m.onnx'],
      shapes: [{ match: '**', dims: sizes }],
      inputs: [{ match: '**', policies: { x: { signal: 'text' } } }],
      judgedBy: { baseline: testTarget('ort:cpu,optimization=disabled'), margin: 10 },
    })
    const result = onlyResult(outcome)
    const file = result.artifacts.find(({ name }) => name === 'layers.json')!
    const { layers } = await readLayersFile(join(outcome.folder, file.path))
    const over = layers.filter(({ judged }) => judged?.standing === 'over')
    const made = over.filter(({ judged }) => judged?.origin === 'made there').map(({ name }) => name)
    expect([where, made.length]).toEqual([where, 1])
    expect(where).toContain(`"${made[0]!.slice(made[0]!.indexOf('_') + 1)}"`)
    expect(over[0]!.name).toBe(made[0])
    expect(new Set(over.slice(1).map(({ judged }) => judged?.origin))).toEqual(new Set(['came in']))
  }
})
