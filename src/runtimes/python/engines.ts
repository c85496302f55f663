/** A library that the Python worker runs models with. */
export interface PythonEngine {
  readonly name: string
  /** What pip installs for it. */
  readonly packages: readonly string[]
  /** What must be importable afterwards. */
  readonly modules: readonly string[]
}

export const PYTHON_ENGINES: readonly PythonEngine[] = [
  { name: 'onnxruntime', packages: ['onnxruntime', 'numpy'], modules: ['onnxruntime'] },
  { name: 'onnx-reference', packages: ['onnx', 'numpy'], modules: ['onnx.reference'] },
  { name: 'openvino', packages: ['openvino', 'onnx', 'numpy'], modules: ['openvino', 'onnx'] },
  {
    name: 'iree',
    packages: ['iree-base-compiler', 'iree-base-runtime', 'onnx', 'numpy'],
    modules: ['iree.compiler', 'iree.runtime', 'onnx'],
  },
  {
    name: 'torch',
    packages: ['torch', 'transformers', 'safetensors', 'numpy'],
    modules: ['torch', 'transformers', 'safetensors'],
  },
]

/** The versions that Assay is tested with. */
const VERSIONS: Readonly<Record<string, string>> = {
  onnxruntime: '1.30.0',
  onnx: '1.23.2',
  openvino: '2026.4.1',
  'iree-base-compiler': '3.13.0',
  'iree-base-runtime': '3.13.0',
  torch: '2.13.0',
  transformers: '5.22.2',
  safetensors: '0.8.0',
  numpy: '2.4.6',
}

/** What those versions are published for. */
export const PYTHON_NEEDED = { least: '3.11', newest: '3.14' }

/** `onnxruntime==1.30.0` … */
export function listPins({ packages }: PythonEngine): string[] {
  return packages.map((name) => `${name}==${VERSIONS[name]}`)
}

export function engineNamed(name: string): PythonEngine {
  const engine = PYTHON_ENGINES.find((known) => known.name === name)
  if (!engine) throw new Error(`no engine "${name}" of the Python worker; this is a bug in assay`)
  return engine
}
