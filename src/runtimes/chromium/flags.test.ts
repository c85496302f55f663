import { describe, expect, test } from 'vitest'
import { readTarget } from '../registry.ts'
import { browserFlags } from './flags.ts'

const flagsOf = (spec: string) => browserFlags(readTarget(spec), '/tmp/some profile')
const isRoot = process.getuid?.() === 0

describe('flags of the browser', () => {
  test.each<[string, string, boolean]>([
    ['chromium:wasm', '--headless', true],
    ['chromium:wasm,headless=false', '--headless', false],
    ['chromium:wasm', '--user-data-dir=/tmp/some profile', true],
    ['chromium:wasm', '--no-proxy-server', true],
    ['chromium:wasm', '--no-sandbox', isRoot],
    ['chromium:wasm,sandbox=off', '--no-sandbox', true],
    ['chromium:wasm,sandbox=on', '--no-sandbox', false],
    ['chromium:wasm', '--disable-gpu', true],
    ['chromium:wasm', '--enable-unsafe-webgpu', false],
    ['chromium:webgpu,adapter=software', '--disable-gpu', false],
    ['chromium:webgpu,adapter=software', '--enable-unsafe-webgpu', true],
    ['chromium:webgpu,adapter=software', '--use-webgpu-adapter=swiftshader', true],
    ['chromium:webgpu-jsep,adapter=software', '--use-webgpu-adapter=swiftshader', true],
    ['chromium:webgpu,adapter=hardware', '--use-webgpu-adapter=swiftshader', false],
    ['chromium:webgpu,adapter=hardware', '--enable-unsafe-webgpu', true],
    ['chromium:webgpu,adapter=hardware', '--ignore-gpu-blocklist', true],
    ['chromium:webgl,adapter=software', '--use-angle=swiftshader', true],
    ['chromium:webgl,adapter=hardware', '--use-angle=swiftshader', false],
    ['chromium:webgl,adapter=hardware', '--ignore-gpu-blocklist', true],
    ['chromium:webnn', '--enable-features=WebMachineLearningNeuralNetwork', true],
    ['chromium:wasm', '--enable-features=WebMachineLearningNeuralNetwork', false],
  ])('%s with %s: %s', (spec, flag, isThere) => {
    expect(flagsOf(spec).includes(flag)).toBe(isThere)
  })

  test('those that a target adds come last, in their order', () => {
    expect(flagsOf('chromium:wasm,arg=--lang=de,arg=--js-flags=--expose-gc').slice(-2)).toEqual([
      '--lang=de',
      '--js-flags=--expose-gc',
    ])
  })
})
