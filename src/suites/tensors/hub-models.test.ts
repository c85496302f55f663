import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { judge, list } from '../../library/judge.ts'
import { folderWith, invoked, projectWith, scalingModel } from '../../library/testing/project.ts'
import { HubServer } from '../../models/testing/hub-server.ts'

const COMMIT = 'c'.repeat(40)
const server = await HubServer.start()
afterAll(() => server.close())

server.models.set('org/scaler', { commit: COMMIT, files: { 'onnx/model.onnx': scalingModel() } })
server.models.set('org/odd', { commit: COMMIT, files: { 'weights/net.onnx': scalingModel() } })
server.models.set('org/micro', {
  commit: COMMIT,
  files: { 'config.json': '{"model_type":"llama"}', 'model.safetensors': 'weights' },
})
beforeEach(() => {
  server.seen.length = 0
})

const cwd = projectWith({ 'models/a.onnx': scalingModel(), 'models/deep/notes.txt': '' })
const home = folderWith()

function invocation(words: string[], environment: Record<string, string> = {}) {
  const reached = { HF_HOME: home, HF_ENDPOINT: server.endpoint, ASSAY_SCOPE: 'full', ...environment }
  return invoked(cwd, { words, environment: reached })
}

async function listed(paths: string[], environment: Record<string, string> = {}): Promise<readonly string[]> {
  return (await list(await invocation(paths, environment), () => {})).selected
}

describe('a model that is named by its Hugging Face id', () => {
  test('comes from the hub once, then from the cache, and is called by its id', async () => {
    const id = 'org/scaler/onnx/model/full_model@ort-web:wasm'
    expect(await listed(['org/scaler'])).toEqual([id])
    expect(server.seen.length).toBeGreaterThan(0)
    server.seen.length = 0
    expect(await listed(['org/scaler', 'models'])).toEqual(['a/full_model@ort-web:wasm', id])
    expect(await listed(['org/scaler'], { HF_HUB_OFFLINE: '1' })).toEqual([id])
    expect(server.seen).toEqual([])
  })

  test('is judged, and the line that judges it again has the id', async () => {
    const given = await invocation(['org/scaler'])
    const { results } = await judge(given, { reporters: [], notice: () => {} })
    expect(results.map(({ verdict }) => verdict)).toEqual(['pass'])
    expect(results[0]!.reproduce).toMatch(/^assay test org\/scaler /)
  })

  test('may have an ONNX file of any name, or only weights for PyTorch', async () => {
    expect(await listed(['org/odd'])).toEqual(['org/odd/weights/net/full_model@ort-web:wasm'])
    expect(await listed(['org/micro'])).toEqual(['org/micro/full_model@torch:cpu,dtype=bf16'])
  })

  test.each([
    ['modles', 'no file or folder "modles"; did you mean "models"?'],
    ['models/b.onnx', 'no file or folder "models/b.onnx"; did you mean "models/a.onnx"?'],
    ['modles/deep', 'no file or folder "modles/deep"; did you mean "models/deep"?'],
    ['nowhere/net.onnx', 'no file or folder "nowhere/net.onnx"; give an .onnx file, a folder or a quoted glob'],
    ['./nowhere', 'no file or folder "./nowhere"; give an .onnx file'],
  ])('is not what %s is taken for: a mistyped path, for which nobody is asked', async (path, words) => {
    await expect(listed([path])).rejects.toThrow(words)
    expect(server.seen).toEqual([])
  })

  test('and is nowhere says where it was looked for', async () => {
    await expect(listed(['org/none'])).rejects.toThrow(/org\/none/)
    await expect(listed(['org/none'], { HF_HUB_OFFLINE: '1' })).rejects.toThrow(
      'org/none is neither a folder here nor in the Hugging Face cache',
    )
    const gone = await HubServer.start()
    const { endpoint } = gone
    await gone.close()
    await expect(listed(['org/none'], { HF_ENDPOINT: endpoint })).rejects.toThrow(
      'no file or folder "org/none", and no model with that id in the Hugging Face cache; ',
    )
  })
})
