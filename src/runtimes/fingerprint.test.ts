import { expect, test } from 'vitest'
import { fingerprintTarget } from './fingerprint.ts'
import { findSchema, readTarget } from './registry.ts'

const of = (spec: string, ofWorker: string | null = 'library 1') =>
  fingerprintTarget(readTarget(spec), findSchema('ort'), ofWorker)

test('a fingerprint covers every option that changes bits, written or at its default', () => {
  expect(of('ort:cpu')).toBe(of('fast=ort:cpu,threads=1'))
  expect(of('ort:cpu')).not.toBe(of('ort:cpu,threads=2'))
  expect(of('ort:cpu')).not.toBe(of('ort:webgpu'))
  expect(of('ort:cpu')).not.toBe(of('ort:cpu,dtype=float16'))
  expect(of('ort:cpu')).not.toBe(of('ort:cpu', 'library 2'))
})

test('the model is not in it, and a worker without one has none', () => {
  expect(of('ort:cpu')).toBe(of('ort:cpu,model=faulty.onnx'))
  expect(of('ort:cpu', null)).toBe(null)
})
