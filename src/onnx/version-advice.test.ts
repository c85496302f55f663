import { expect, test } from 'vitest'
import { explainVersions } from './version-advice.ts'

/** As the runtimes write them: onnxruntime 1.30, ONNX's reference evaluator 1.23, IREE 3.13. */
test.each<[string, number, string]>([
  [
    'Load model from m.onnx failed:Unsupported model IR version: 14, max supported IR version: 13',
    17,
    `use a newer runtime, or convert: python3 -c "import onnx; m = onnx.load('model.onnx'); m.ir_version = 13; onnx.save(m, 'converted.onnx')"`,
  ],
  [
    'the model imports opset 99 of ai.onnx, expected at most 26; export it for that opset or use a newer onnxruntime',
    99,
    `to convert: python3 -c "import onnx, onnx.version_converter; onnx.save(onnx.version_converter.convert_version(onnx.load('model.onnx'), 26), 'converted.onnx')"`,
  ],
  [
    "ERROR_CODE: 9, ERROR_MESSAGE: Could not find an implementation for Gemm(6) node with name ''",
    6,
    `ERROR_CODE: 9, ERROR_MESSAGE: the model's opset 6 is too old: onnxruntime has no kernel for Gemm of that opset, and takes opset 7 or newer; to convert: python3 -c "import onnx, onnx.version_converter; `,
  ],
  [
    'no execution provider has a kernel for Gemm with these types',
    5,
    "the model's opset 5 is too old: onnxruntime has no kernel for Gemm of that opset, and takes opset 7 or newer; ",
  ],
  [
    "RuntimeError: No implementation for operator 'BatchNormalization' domain '' and version 5, found 6, 9, 14, None.",
    5,
    'the model imports opset 5 of ai.onnx, this runtime has BatchNormalization from opset 6 on; to convert: ',
  ],
  [
    `iree-compile ended with exit code 1: error: failed to legalize operation 'torch.operator' that was explicitly marked illegal: %1 = "torch.operator"(%arg0) <{name = "onnx.Softmax"}>`,
    9,
    'the model imports opset 9 of ai.onnx, and the compiler does not say from which opset on it takes Softmax; a newer one may help: ',
  ],
])('%s comes with versions and a way to convert', (message, opset, advice) => {
  expect(explainVersions(message, '', opset)).toContain(advice)
})

test.each([
  ["Could not find an implementation for Frobnicate(1) node with name ''", 17],
  ['no execution provider has a kernel for Cast with these types', 17],
  ["No implementation for operator 'Gemm' domain '' and version 17, found 6, 7, None.", 17],
  [`failed to legalize operation 'torch.operator': "onnx.Einsum"`, 21],
  ["Could not find an implementation for Normalizer(1) node with name ''", null],
  ['Node input "nowhere" is not a graph input', 5],
] as const)('%s is about something else', (message, opset) => {
  expect(explainVersions(message, '', opset)).toBe(null)
})
