import { describe, expect, test } from 'vitest'
import { assay, project } from '../support/assay.ts'

const CONFIG = {
  models: ['nets/*.onnx'],
  target: ['plain'],
  timeout: '2min',
  targets: { plain: 'ort:cpu,optimization=disabled', board: 'command:./runner,arg=--token=hunter2' },
  tolerances: [{ match: 'conv/**', rtol: 1e-3 }],
}
const folder = project({ 'assay.config.json': JSON.stringify(CONFIG) })
/** The helper of these tests asks for whole models by a variable. */
const CLEAN = { ASSAY_SCOPE: '' }

describe('assay config', () => {
  test('says of each value where it came from', async () => {
    const args = ['config', '--show-origin', '--rtol', '1e-4', '-k', 'mlp']
    const { code, stdout, stderr } = await assay(args, folder, { ASSAY_SCOPE: '', ASSAY_SEED: '4' })
    expect([code, stderr]).toEqual([0, ''])
    const rows = stdout.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' | '))
    expect(rows).toEqual(
      expect.arrayContaining([
        'models | nets/*.onnx | assay.config.json:models',
        'reference | ort:cpu, or the recorded outputs | default',
        'target | plain | assay.config.json:target',
        '-k | mlp | command line -k',
        'seed | 4 | environment ASSAY_SEED',
        'rtol | 0.0001 | command line --rtol',
        'timeout | 120s | assay.config.json:timeout',
        'memoryLimit | 8gib | default',
        'plain | ort:cpu,optimization=disabled | assay.config.json:targets.plain',
        '[0] | match=conv/** rtol=0.001 | assay.config.json:tolerances[0]',
      ]),
    )
    expect(stdout).not.toContain('hunter2')
  })

  test('without --show-origin prints values alone', async () => {
    const { stdout } = await assay(['config'], folder, CLEAN)
    expect(stdout).toMatch(/^ {2}timeout +120s$/m)
    expect(stdout).not.toContain('default')
  })

  test('as JSON is one document without secrets', async () => {
    const { stdout } = await assay(['config', 'a.onnx', '--json'], folder, CLEAN)
    const { schema, file, settings } = JSON.parse(stdout)
    expect([schema, file]).toEqual(['assay/config@1', 'assay.config.json'])
    const byKey = Object.fromEntries(settings.map((setting: { key: string }) => [setting.key, setting]))
    expect(byKey.models).toMatchObject({ value: ['a.onnx'], origin: { source: 'command line' } })
    expect(byKey.timeout).toMatchObject({ value: 120, origin: { name: 'assay.config.json:timeout' } })
    expect(byKey.shard).toMatchObject({ value: null, origin: { source: 'default' } })
    expect(stdout).not.toContain('hunter2')
  })

  test('tells the reporters as they are where it runs', async () => {
    const { stdout } = await assay(['config'], folder, { ...CLEAN, GITHUB_ACTIONS: 'true' })
    expect(stdout).toMatch(/^ {2}reporter +terminal github$/m)
  })

  test.each([
    [['--target', 'ortt:cpu'], 'unknown runtime "ortt" in target "ortt:cpu"; did you mean "ort"?'],
    [['--scope', 'ful'], 'unknown --scope "ful"; did you mean "full"?'],
    [['--rtol', '1'], 'rtol'],
  ])('refuses what assay test would refuse: %j', async (args, message) => {
    const { code, stderr } = await assay(['config', ...args], folder, CLEAN)
    expect(code).toBe(4)
    expect(stderr).toContain(message)
  })
})

describe('a variable in the environment', () => {
  test('that is mistyped is refused, whatever the command', async () => {
    for (const command of [['list'], ['config'], ['cache', 'status']]) {
      const { code, stderr } = await assay(command, folder, { ASSAY_TAGRET: 'ort:cpu' })
      expect([code, stderr]).toEqual([
        4,
        'assay: unknown variable ASSAY_TAGRET in the environment; did you mean "ASSAY_TARGET"? Unset it if it is not for Assay\n',
      ])
    }
  })

  test('that names no kernels is one usage error, before anything is judged', async () => {
    for (const command of [
      ['test', 'nowhere.onnx'],
      ['diff', 'a.npy', 'b.npy'],
    ]) {
      const { code, stdout, stderr } = await assay(command, folder, { ASSAY_KERNELS: 'wsam' })
      expect([code, stdout, stderr]).toEqual([
        4,
        '',
        'assay: unknown kernels "wsam" in ASSAY_KERNELS; did you mean "wasm"?\n',
      ])
    }
  })

  test("that is nobody's setting is said to have no effect", async () => {
    const { code, stderr } = await assay(['config'], folder, { ASSAY_VERSION: '1.2.3' })
    expect([code, stderr]).toEqual([
      0,
      'assay: ASSAY_VERSION in the environment is not an Assay setting and has no effect\n',
    ])
  })
})
