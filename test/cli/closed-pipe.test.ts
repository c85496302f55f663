import { once } from 'node:events'
import { expect, test } from 'vitest'
import { project, startAssay } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

test.each([
  [['test', 'a.onnx', '--target', 'off=ort:cpu,model=off.onnx'], 1],
  [['test', 'a.onnx', '--target', 'off=ort:cpu,model=off.onnx', '--json'], 1],
  [['list', 'a.onnx'], 0],
])('%j into a pipe that nobody reads: what was found decides, and nothing is said', async (args, code) => {
  const child = startAssay(args, project({ 'a.onnx': affineModel(), 'off.onnx': affineModel(2.02) }))
  child.stdout.destroy()
  let stderr = ''
  child.stderr.on('data', (text: Buffer) => {
    stderr += text
  })
  expect([(await once(child, 'close'))[0], stderr]).toEqual([code, ''])
})
