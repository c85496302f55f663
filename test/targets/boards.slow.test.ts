import { createHash } from 'node:crypto'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeNpy } from '../../src/files/formats/npy.ts'
import { buildModel } from '../../src/onnx/builder.ts'
import { encodeNumbers } from '../../src/tensors/encode.ts'
import { memorySource } from '../../src/tensors/memory-source.ts'
import { assayJson, project } from '../support/assay.ts'
import { describeWithBoard, runnerOf } from '../support/sshd.ts'

await describeWithBoard('a board', (board) => {
  test('a model of 200 MB goes through without being held', async () => {
    const floats = 50 * 2 ** 20
    const model = buildModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: [4] }],
      outputs: [{ name: 'y', dtype: 'float32', shape: [4] }],
      initializers: { unused: { dtype: 'float32', shape: [floats], bytes: new Uint8Array(4 * floats) } },
      nodes: [{ op: 'Identity', inputs: ['x'], outputs: ['y'] }],
    })
    const folder = project({ 'large.onnx': model })
    const values = { dtype: 'float32', shape: [4], bytes: encodeNumbers('float32', [1, 2, 3, 4]) } as const
    mkdirSync(join(folder, 'recorded'))
    for (const path of ['x.npy', 'recorded/y.npy']) await writeNpy(join(folder, path), memorySource('y', values))
    const sides = ['--reference', 'recorded:recorded', '--target', `board=${board.spec},${runnerOf()}`]
    const limits = ['--input', 'x=x.npy', '--memory-limit', '180mib']
    const { results } = await assayJson(['test', 'large.onnx', ...sides, ...limits], folder)
    expect(results.map(({ verdict, error }) => error?.message ?? verdict)).toEqual(['pass'])
    expect(statSync(join(board.cache, 'blobs', createHash('sha256').update(model).digest('hex'))).size).toBe(
      model.length,
    )
  })
})
