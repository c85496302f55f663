import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createStyle } from '../../reporters/style.ts'
import type { Diagnosis } from './diagnose.ts'
import { diagnosisLines } from './lines.ts'
import type { TargetReport } from './survey.ts'

const style = (columns: number, env: Record<string, string> = { LANG: 'C.UTF-8' }) =>
  createStyle({ write: () => true, columns }, { env, color: false })

function report(target: string, more: Partial<TargetReport> = {}): TargetReport {
  const [runtime = '', device = null] = target.split(':')
  const bare = { target, runtime, device, version: null, detail: {}, needs: [], reason: null, remedy: null }
  return { ...bare, state: 'ready', ...more }
}

const ORT = report('ort:cpu', { detail: { library: 'onnxruntime-node 1.30.0', devices: 'cpu' } })
const WEB = report('ort-web:wasm', {
  version: '1.30.0',
  needs: [
    {
      name: 'onnxruntime-web',
      version: '1.30.0',
      path: '/p/node_modules/onnxruntime-web',
      onFirstUse: true,
      remedy: '',
    },
  ],
})
const HERE: Diagnosis = {
  findings: [
    { name: 'node', health: 'good', text: 'v22.0.0' },
    { name: 'config', health: 'note', text: 'no file, so defaults count', remedy: 'assay init writes one' },
  ],
  runtimes: [
    ORT,
    WEB,
    report('torch:cpu', { state: 'missing', reason: 'torch is not here', remedy: 'run: assay setup python torch' }),
    report('command', { device: null, state: 'untried', reason: 'give it as command:./runner' }),
  ],
  browsers: [
    { name: 'chromium', path: '/usr/bin/chromium' },
    { name: 'brave', path: null },
  ],
  sides: { reference: [ORT], targets: [WEB] },
  works: true,
}

test('a diagnosis tells what is here, what a run would use, and that it would work', () => {
  expect(diagnosisLines(HERE, style(80), '/p').join('\n')).toMatchInlineSnapshot(`
    "✓ node         v22.0.0
    ○ config       no file, so defaults count
                   → assay init writes one

    Runtimes
    ✓ ort:cpu               onnxruntime-node 1.30.0 · devices: cpu
    ✓ ort-web:wasm          1.30.0 · in node_modules/onnxruntime-web
    ○ torch:cpu             torch is not here
                            → run: assay setup python torch
    ○ command               give it as command:./runner

    Browsers
    ✓ chromium              /usr/bin/chromium
    ○ not found             brave

    A run here
    ✓ reference             ort:cpu (onnxruntime-node 1.30.0)
    ✓ target                ort-web:wasm

    ready to run; nothing to look at"
  `)
})

test('a side that is not there makes it not ready, and everything to look at is named once', () => {
  const broken = report('ort-web:wasm', { state: 'unavailable', reason: 'it crashed' })
  const usual = report('chromium:webgpu', {
    state: 'first-use',
    reason: 'the first run installs onnxruntime-web 1.30.0',
  })
  const diagnosis = {
    ...HERE,
    runtimes: [ORT, broken, usual],
    sides: { reference: [ORT], targets: [broken] },
    works: false,
  }
  const lines = diagnosisLines(diagnosis, style(Number.POSITIVE_INFINITY), '/p')
  expect(lines).toContain('! ort-web:wasm          it crashed')
  expect(lines).toContain('○ chromium:webgpu       the first run installs onnxruntime-web 1.30.0, once')
  expect(lines).toContain('✗ target                ort-web:wasm: it crashed')
  expect(lines.at(-1)).toBe('not ready to run; 1 thing to look at: ✗ ort-web:wasm')
})

test('settings that are refused leave no sides', () => {
  const lines = diagnosisLines({ ...HERE, sides: { reference: [], targets: [] }, works: false }, style(80), '/p')
  expect(lines).toContain('○ settings              are refused, see config above')
})

test('what was installed by a run is said to be in our own folder', () => {
  const path = join('/p', '.assay/runtimes/ort-web@1.30.0/node_modules/onnxruntime-web')
  const own = { ...WEB, needs: [{ ...WEB.needs[0]!, path }] }
  const lines = diagnosisLines({ ...HERE, runtimes: [own] }, style(80), '/p')
  expect(lines).toContain('✓ ort-web:wasm          1.30.0 · in .assay/runtimes')
})
