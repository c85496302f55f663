import { expect, test } from 'vitest'
import type { RuntimeInfo } from '../contract.ts'
import { refuseFormat } from './refuse.ts'

function infoOf(...accepts: RuntimeInfo['accepts']): RuntimeInfo {
  const capabilities = { dtypes: [], kinds: [], taps: false, decode: false, profile: false }
  return { available: true, version: '1', accepts, capabilities, detail: {}, fingerprint: null }
}

const onnx = { format: 'onnx', path: 'model.onnx' } as const
const folder = { format: 'huggingface', path: 'llama' } as const

test('a worker gets models of the formats that it lists', () => {
  expect(() => refuseFormat(infoOf('onnx', 'huggingface'), onnx)).not.toThrow()
  expect(() => refuseFormat(infoOf('onnx', 'huggingface'), folder)).not.toThrow()
})

test('any other is an error at compile that names both', () => {
  expect(() => refuseFormat(infoOf('huggingface'), onnx)).toThrow('it takes huggingface models, this is onnx')
  expect(() => refuseFormat(infoOf(), folder)).toThrow('it lists no model format that Assay knows, this is huggingface')
})
