import { expect, test } from 'vitest'
import { explainRefusal } from './create-session.ts'

const place =
  '/onnxruntime_src/onnxruntime/core/graph/model_load_utils.h:46 void onnxruntime::model_load_utils::ValidateOpsetForDomain(const std::unordered_map<std::string, int>&, bool) '

test('a too new opset is said in our words', () => {
  const message = `Load model from m.onnx failed:${place}ONNX Runtime only *guarantees* support for official opset versions. Opset 99 is under development and support for this is limited. Current official support for domain ai.onnx is till opset 26.\n\n`
  expect(explainRefusal(message)).toBe(
    'the model imports opset 99 of ai.onnx, expected at most 26; export it for that opset or use a newer onnxruntime',
  )
})

test('the place in the library’s source is left out, and there is one line', () => {
  expect(explainRefusal(`Load model from m.onnx failed:${place}the graph\nis odd (very).\n`)).toBe(
    'Load model from m.onnx failed:the graph is odd (very).',
  )
})

test('an unknown op comes with what to do', () => {
  expect(explainRefusal('No Op registered for Frobnicate with domain_version of 17')).toContain('; export the model')
})

test('a missing kernel is said in our words', () => {
  const text =
    "ERROR_MESSAGE: !node_provider_type.empty() was false. Provider type for Cast node with name 'c' is not set."
  expect(explainRefusal(text)).toBe('no execution provider has a kernel for Cast "c" with these types')
})

test('other refusals stay as they are', () => {
  expect(explainRefusal("Node input 'nowhere' is not a graph input.")).toBe(
    "Node input 'nowhere' is not a graph input.",
  )
})
