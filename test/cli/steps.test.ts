import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ExplainedStep } from '../../src/runs/record/explain-steps.ts'
import { assay, assayJson, project } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

const FULL = 'a/full_model@ort:cpu,threads=2'
const target = ['--target', 'ort:cpu,threads=2']

describe('list --steps', () => {
  let folder: string
  const judge = (...args: string[]) => assay(['test', 'a.onnx', ...target, ...args], folder)
  const stepsOf = async (id = FULL): Promise<ExplainedStep[]> => {
    const { stdout } = await assay(['list', '--steps', id, '--json'], folder)
    return (JSON.parse(stdout) as { steps: ExplainedStep[] }).steps
  }
  const origins = async () =>
    (await stepsOf())
      .filter(({ key }) => key !== null)
      .map(({ side, origin }) => `${side} ${origin.replace(/run \w+$/, 'run X')}`)

  beforeAll(async () => {
    folder = project({ 'a.onnx': affineModel() })
    await judge()
  })

  test('prints them in order with title, side, key and file', async () => {
    const { code, stdout } = await assay(['list', '--steps', FULL], folder)
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^✓ pass {2}a\/full_model@ort:cpu,threads=2 {2}run \w{26}\n\n 1 {2}read the model {2}import, reference/,
    )
    expect(stdout).toMatch(/key ([0-9a-f]{64})\n +\.assay\/cache\/..\/\1\/\w{26}\/trace\.safetensors {2}1\.4 KiB/)
    const steps = await stepsOf()
    expect(steps.map(({ stage }) => stage).slice(0, 2)).toEqual(['import', 'inputs'])
    expect(steps.at(-1)!.stage).toBe('compare')
    for (const { files } of steps) for (const { path, bytes } of files) expect(readFileSync(path)).toHaveLength(bytes)
  })

  test('says what was found and why something was made', async () => {
    expect((await origins()).sort()).toEqual(['reference made: for the first time', 'target made: for the first time'])
    await judge()
    expect((await origins()).sort()).toEqual([
      'reference hit: made in an earlier run',
      'target hit: made in an earlier run',
    ])
    await judge('--seed', '5')
    expect((await origins()).sort()).toEqual([
      'reference made: inputs changed since run X',
      'target made: inputs changed since run X',
    ])
    writeFileSync(join(folder, 'a.onnx'), affineModel(3))
    await judge('--seed', '5')
    expect((await origins()).sort()).toEqual([
      'reference made: model changed since run X',
      'target made: model changed since run X',
    ])
    await judge('--recompute')
    expect(new Set((await origins()).map((text) => text.replace(/^\w+ /, '')))).toEqual(
      new Set(['made: --recompute was given']),
    )
    rmSync(join(folder, '.assay/cache'), { recursive: true })
    await judge()
    expect((await origins())[0]).toMatch(/ made: what run \w{26} used was no longer in the cache$/)
  })

  test('takes a part of the id that no other has, and says what is known otherwise', async () => {
    expect((await stepsOf('full_model')).length).toBeGreaterThan(3)
    const unknown = await assay(['list', '--steps', 'a/full_modle@ort:cpu,threads=2'], folder)
    expect(unknown.code).toBe(4)
    expect(unknown.stderr).toMatch(
      /^assay: "a\/full_modle@ort:cpu,threads=2": no case of run \w{26} has it in its id; did you mean "a\/full_model@ort:cpu,threads=2"\?\n$/,
    )
    const nothing = await assay(['list', '--steps', 'x'], project())
    expect([nothing.code, nothing.stderr]).toEqual([
      4,
      'assay: no run has judged anything yet; judge something first: assay test <model.onnx>\n',
    ])
  })
})

describe('--keep', () => {
  const names = ({ artifacts }: { readonly artifacts: readonly { readonly name: string }[] }) =>
    artifacts.map(({ name }) => name).sort()

  test('keeps the inputs and what both sides gave, also of cases that pass', async () => {
    const folder = project({ 'a.onnx': affineModel() })
    const run = (...args: string[]) =>
      assayJson(['test', 'a.onnx', ...target, '--scope', 'full,layers', ...args], folder)
    expect((await run()).results.flatMap(names)).toEqual([])
    const [whole, layer] = (await run('--keep')).results
    expect(names(whole!)).toEqual(['inputs.safetensors', 'reference.safetensors', 'target.safetensors'])
    expect(names(layer!)).toEqual(
      expect.arrayContaining(['inputs.safetensors', 'layer.onnx', 'reference.safetensors', 'target.safetensors']),
    )
    expect(names(layer!).join()).toContain('look inside the model on ort:cpu: values 1/trace.safetensors')
  })
})
