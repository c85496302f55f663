import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chooseBundle, isGpuDevice } from './bundles.ts'

type Files = Readonly<Record<string, string>>

/** What each release's bundles load, as far as it decides. */
const RELEASES: Readonly<Record<string, Files>> = {
  '1.30.0': {
    'ort.min.mjs': 'ort-wasm-simd-threaded.jsep.mjs',
    'ort.all.min.mjs': 'ort-wasm-simd-threaded.jsep.mjs',
    'ort.wasm.min.mjs': 'ort-wasm-simd-threaded.mjs',
    'ort.webgl.min.mjs': 'webgl',
    'ort.webgpu.min.mjs': 'ort-wasm-simd-threaded.asyncify.mjs',
  },
  '1.20.1': {
    'ort.min.mjs': 'ort-wasm-simd-threaded.jsep.mjs',
    'ort.wasm.min.mjs': 'ort-wasm-simd-threaded.mjs',
    'ort.webgpu.min.mjs': 'ort-wasm-simd-threaded.jsep.mjs',
  },
  '1.18.0': {
    'ort.min.mjs': 'ort-wasm-simd-threaded.wasm',
    'esm/ort.wasm.min.js': 'ort-wasm-simd-threaded.wasm',
    'esm/ort.webgpu.min.js': 'ort-wasm-simd-threaded.jsep.wasm',
    'esm/ort.webgl.min.js': 'webgl',
  },
  '1.99.0': { 'ort.webgpu.min.mjs': 'ort-wasm-simd-threaded.jspi.mjs' },
  '1.0.0': {},
}

async function release(version: string) {
  const folder = await mkdtemp(join(tmpdir(), 'assay-bundles-'))
  for (const [name, text] of Object.entries(RELEASES[version]!)) {
    const path = join(folder, 'dist', name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, `import("./${text}")`)
  }
  return { folder, version }
}

describe('the bundle for a device', () => {
  test.each([
    ['1.30.0', 'wasm', 'ort.wasm.min.mjs', 'wasm'],
    ['1.30.0', 'webgpu', 'ort.webgpu.min.mjs', 'webgpu'],
    ['1.30.0', 'webgpu-jsep', 'ort.min.mjs', 'webgpu'],
    ['1.30.0', 'webgl', 'ort.webgl.min.mjs', 'webgl'],
    ['1.30.0', 'webnn', 'ort.all.min.mjs', 'webnn'],
    ['1.20.1', 'webgpu-jsep', 'ort.min.mjs', 'webgpu'],
    ['1.18.0', 'wasm', 'esm/ort.wasm.min.js', 'wasm'],
    ['1.18.0', 'webgpu-jsep', 'esm/ort.webgpu.min.js', 'webgpu'],
    ['1.18.0', 'webgl', 'esm/ort.webgl.min.js', 'webgl'],
    ['1.99.0', 'webgpu', 'ort.webgpu.min.mjs', 'webgpu'],
  ])('%s has %s in %s', async (version, device, file, provider) => {
    expect(await chooseBundle(device, await release(version))).toEqual({ file, provider })
  })

  test.each([
    ['1.20.1', 'webgpu', 'onnxruntime-web 1.20.1 has no bundle for webgpu; its WebGPU device is webgpu-jsep'],
    ['1.99.0', 'webgpu-jsep', 'onnxruntime-web 1.99.0 has no bundle for webgpu-jsep'],
    ['1.20.1', 'webnn', 'onnxruntime-web 1.20.1 has no bundle for webnn'],
    ['1.0.0', 'wasm', 'onnxruntime-web 1.0.0 has no bundle for wasm'],
  ])('%s has none for %s', async (version, device, message) => {
    await expect(chooseBundle(device, await release(version))).rejects.toMatchObject({ code: 'install', message })
  })
})

test.each([
  ['webgpu', true],
  ['webgpu-jsep', true],
  ['wasm', false],
  ['webgl', false],
  ['webnn', false],
  ['nonsense', false],
])('%s is WebGPU: %s', (device, isGpu) => expect(isGpuDevice(device)).toBe(isGpu))
