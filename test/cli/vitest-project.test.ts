import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { root, temporaryFolder } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

const SUITE = `
import { expect, test } from 'vitest'
import { testOnnx } from 'assay'
import 'assay/vitest'

test('a model that is the same everywhere', async () => {
  await expect('models/affine.onnx').toMatchReference({ target: 'ort-web:wasm' })
})

test('a model that was converted wrongly', async () => {
  await expect('models/affine.onnx').toMatchReference({ target: 'converted=ort-web:wasm,model=converted.onnx' })
})

test('one that must differ', async () => {
  await expect('models/affine.onnx').not.toMatchReference({ target: 'ort-web:wasm,model=converted.onnx' })
})

test('one that cannot be judged does not differ', async () => {
  await expect('models/affine.onnx').not.toMatchReference({ target: 'ort-web:wasm,model=text.onnx' })
})

test('results for own assertions', async () => {
  const { results, exitCode } = await testOnnx('models', { target: ['ort:cpu,optimization=disabled'], scope: 'full' })
  expect(exitCode).toBe(0)
  expect(results.map(({ id, verdict }) => [id, verdict])).toEqual([
    ['affine/full_model@ort:cpu,optimization=disabled', 'pass'],
  ])
})

test('a mistyped option', async () => {
  // @ts-expect-error: the types know it too.
  await testOnnx('models', { tagret: 'ort-web:wasm' })
})
`

/** The packed package in an own folder, everything it depends on as it is installed here. */
function packedProject(): string {
  const folder = temporaryFolder('vitest project')
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'assay'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules'))) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  execFileSync('tar', ['xzf', join(folder, packed.trim()), '-C', join(modules, 'assay'), '--strip-components=1'])
  return folder
}

describe('a vitest project that has installed the package', () => {
  const folder = packedProject()
  let report: string
  let code: number | null

  beforeAll(() => {
    const files = {
      'package.json': '{ "type": "module", "private": true }',
      'tsconfig.json': JSON.stringify({
        compilerOptions: { strict: true, module: 'nodenext', target: 'es2022', noEmit: true, types: [] },
        include: ['models.test.ts'],
      }),
      'models.test.ts': SUITE,
      'vitest.config.ts': 'export default { test: { testTimeout: 60_000 } }',
      'converted.onnx': affineModel(2.01),
      'text.onnx': 'no model',
      'models/affine.onnx': affineModel(),
    }
    mkdirSync(join(folder, 'models'))
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
    const env = { ...process.env, NO_COLOR: '1', VITEST: undefined, VITEST_POOL_ID: undefined }
    const ran = spawnSync(process.execPath, [vitest, 'run'], { cwd: folder, env, encoding: 'utf8' })
    report = `${ran.stdout}${ran.stderr}`
    code = ran.status
  })

  test('three of its tests pass and three fail', () => {
    expect(report).toMatch(/Tests +3 failed \| 3 passed/)
    expect(code).toBe(1)
  })

  test('a failure says what differs, where, by how much and how to judge it again', () => {
    expect(report).toContain('models/affine.onnx does not match the reference: 1 passed, 2 failed')
    expect(report).toContain('✗ FAIL  affine/full_model@converted')
    expect(report).toMatch(/rel_l2 0\.00\d+ > limit 1e-4/)
    expect(report).toMatch(/look at these first\n +layer_Mul_/)
    expect(report).toMatch(/reproduce +assay test models\/affine\.onnx --target converted=ort-web:wasm,model=converted/)
  })

  test('what cannot be judged is no difference', () => {
    expect(report).toMatch(/models\/affine\.onnx does not differ from the reference: \d+ errors?/)
  })

  test('a mistyped option is named', () => {
    expect(report).toContain('unknown key "tagret" in the options of testOnnx; did you mean "target"?')
  })

  test('its types know the matcher', () => {
    const tsc = join(folder, 'node_modules/typescript/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
    expect(stdout).toBe('')
  })
})
