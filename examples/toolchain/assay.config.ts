import { defineConfig } from 'assay'

export default defineConfig({
  models: ['../models'],
  target: ['toolchain:tiny,chip=chips/a.json'],
  toolchains: {
    // A compiler of our own, in this folder.
    tiny: {
      version: ['python3', 'tinycc.py', '--version'],
      compile: [
        ...['python3', 'tinycc.py', 'compile', '{model}'],
        ...['--chip={chip_file}', '--dump={ir_dir}', '-o', '{artifact}'],
      ],
      run: ['python3', 'tinycc.py', 'run', '{artifact}', '--input={input}', '--output={output}'],
      ir: ['imported.txt', 'folded.txt', 'fused.txt'],
      files: ['tinycc.py'],
      limits: { compile: '1min', run: '1min' },
    },
    // IREE's command-line tools: pip install iree-base-compiler[onnx] iree-base-runtime. hw= is the backend.
    iree: {
      version: ['iree-compile', '--version'],
      import: ['iree-import-onnx', '{model}', '-o', '{imported}.mlir'],
      compile: [
        ...['iree-compile', '{imported}.mlir', '-o', '{artifact}.vmfb', '--dump-compilation-phases-to={ir_dir}'],
        ...['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends={hw}'],
        '--iree-llvmcpu-target-cpu=host',
      ],
      run: [
        ...['iree-run-module', '--module={artifact}.vmfb', '--device=local-task'],
        ...['--input=@{input}', '--output=@{output}'],
      ],
      ir: [
        ...['imported.1.input.mlir', 'imported.4.global-optimization.mlir', 'imported.6.flow.mlir'],
        ...['imported.7.stream.mlir', 'imported.11.hal.mlir', 'imported.12.vm.mlir'],
      ],
      limits: { import: '1min', compile: '5min', run: '1min' },
    },
  },
  targets: {
    mychip: 'toolchain:tiny',
    iree: 'toolchain:iree,hw=llvm-cpu,hw=vmvx',
  },
})
