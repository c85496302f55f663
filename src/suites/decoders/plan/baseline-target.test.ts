import { expect, test } from 'vitest'
import type { Probe } from '../../../runtimes/contract.ts'
import { baselineText, bestDevice } from './baseline-target.ts'

/** As the torch worker answers on a machine with these devices. */
const report = (devices: string, device = 'cpu'): Probe => ({
  available: true,
  version: '2.13.0+cu130',
  accepts: ['huggingface'],
  capabilities: { dtypes: ['float32'], kinds: ['tensor'], taps: true, profile: false, decode: true },
  detail: { library: 'torch 2.13.0+cu130, transformers 5.22.2', python: '3.12.3', device, devices },
  fingerprint: 'any',
})

test.each([
  ['cpu, cuda', 'cuda', 'torch:cuda,dtype=bf16: torch 2.13.0+cu130 reports cpu, cuda; --baseline names another'],
  ['cpu, xpu', 'xpu', 'torch:xpu,dtype=bf16: torch 2.13.0+cu130 reports cpu, xpu; --baseline'],
  ['cpu, mps', 'mps', 'torch:mps,dtype=bf16: torch 2.13.0+cu130 reports cpu, mps; --baseline'],
  ['cpu, mps, cuda', 'cuda', 'reports cpu, mps, cuda;'],
  ['cpu, npu', 'npu', 'torch:npu,dtype=bf16: torch 2.13.0+cu130 reports cpu, npu; --baseline'],
  ['cpu', 'cpu', 'torch:cpu,dtype=bf16: torch 2.13.0+cu130 reports no GPU here, only cpu; --baseline names another'],
])('where torch reports %s the baseline is on %s', (devices, best, words) => {
  expect(bestDevice(report(devices))).toBe(best)
  expect(baselineText(`torch:${best},dtype=bf16`, report(devices))).toContain(words)
})

test('without torch it stays on the processor, and its case says what is missing', () => {
  const absent: Probe = { available: false, reason: 'torch needs a Python environment' }
  expect([bestDevice(absent), baselineText('torch:cpu,dtype=bf16', absent)]).toEqual(['cpu', null])
})
