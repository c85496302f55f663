import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Toolchains } from '../../src/runtimes/toolchain/definition.ts'
import { readToolchain } from '../../src/runtimes/toolchain/read-toolchain.ts'
import { hasModules, PYTHON, TEST_PYTHON } from '../support/python.ts'

const folder = fileURLToPath(new URL('../../examples/toolchain', import.meta.url))

export const hasNumPy = hasModules('numpy')
export const hasIree = TEST_PYTHON !== undefined || spawnSync('iree-compile', ['--version']).status === 0

/** Programs of that Python go before others. */
export const toolPath = [...(TEST_PYTHON === undefined ? [] : [dirname(TEST_PYTHON)]), process.env.PATH].join(delimiter)
const iree = (name: string) => (TEST_PYTHON === undefined ? name : join(dirname(TEST_PYTHON), name))

/** Those of the example, for chip a and for llvm-cpu. */
export const testToolchains: Toolchains = {
  tiny: readToolchain(
    'tiny',
    {
      version: [PYTHON, 'tinycc.py', '--version'],
      compile: [
        PYTHON,
        'tinycc.py',
        'compile',
        '{model}',
        '--chip=chips/a.json',
        '--dump={ir_dir}',
        '-o',
        '{artifact}',
      ],
      run: [PYTHON, 'tinycc.py', 'run', '{artifact}', ['--input', '{input}'], '--output={output}'],
      ir: ['imported.txt', 'folded.txt', 'fused.txt'],
      files: ['tinycc.py', 'chips'],
    },
    folder,
    'the test toolchain tiny',
  ),
  iree: readToolchain(
    'iree',
    {
      version: [iree('iree-compile'), '--version'],
      import: [iree('iree-import-onnx'), '{model}', '-o', '{imported}.mlir'],
      compile: [
        ...[iree('iree-compile'), '{imported}.mlir', '-o', '{artifact}.vmfb', '--dump-compilation-phases-to={ir_dir}'],
        ...['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu'],
        '--iree-llvmcpu-target-cpu=host',
      ],
      run: [iree('iree-run-module'), '--module={artifact}.vmfb', '--input=@{input}', '--output=@{output}'],
      ir: ['imported.6.flow.mlir', 'imported.12.vm.mlir'],
    },
    folder,
    'the test toolchain iree',
  ),
}
