/** What every engine of the Python worker needs, in the versions that Assay is tested with. */
export const PYTHON_ENGINES: Readonly<Record<string, readonly string[]>> = {
  onnxruntime: ['numpy', 'onnxruntime'],
  'onnx-reference': ['numpy', 'onnx'],
  openvino: ['numpy', 'openvino'],
  iree: ['numpy', 'onnx', 'iree-base-compiler', 'iree-base-runtime'],
  torch: ['numpy', 'torch', 'transformers', 'safetensors'],
}

const VERSIONS: Readonly<Record<string, string>> = {
  numpy: '2.4.6',
  onnxruntime: '1.30.0',
  onnx: '1.23.2',
  openvino: '2026.4.1',
  'iree-base-compiler': '3.13.0',
  'iree-base-runtime': '3.13.0',
  torch: '2.13.0',
  transformers: '5.22.2',
  safetensors: '0.8.0',
}

/** `onnxruntime==1.30.0` … */
export function pinsOf(engine: string): string[] {
  return (PYTHON_ENGINES[engine] ?? []).map((name) => `${name}==${VERSIONS[name]}`)
}
