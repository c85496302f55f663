import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tensor } from '../../src/domain/tensor.ts'
import { writeNpy } from '../../src/files/formats/npy.ts'
import { buildModel } from '../../src/onnx/builder.ts'
import { writeMetricFiles } from '../../src/suites/decoders/store/metric-files.ts'
import { encodeNumbers } from '../../src/tensors/encode.ts'
import { memorySource } from '../../src/tensors/memory-source.ts'
import { assay, copyFixture, main, root, temporaryFolder } from './assay.ts'
import { writePlanted } from './diff-tensors.ts'
import { TEST_PYTHON } from './python.ts'

export const floats = (shape: readonly number[], numbers: readonly number[]): Tensor => ({
  dtype: 'float32',
  shape,
  bytes: encodeNumbers('float32', numbers),
})

const WEIGHTS = [0.1, 0.4, -0.2, 0.9, -0.3, 0.2, 0.5, 0.6, -0.7, 0.1, 0.2, 0.3]
const BIASES = [0.1, -0.1, 0.05]
const FEATURES = [1, 0.5, -1, 0.25, -0.5, 2, 0.75, 1]

function classifier(weights = WEIGHTS): Uint8Array {
  return buildModel({
    nodes: [
      { op: 'Gemm', inputs: ['features', 'w', 'b'], outputs: ['logits'] },
      { op: 'Softmax', inputs: ['logits'], outputs: ['probabilities'] },
      { op: 'ArgMax', inputs: ['probabilities'], outputs: ['label'], attributes: { axis: 1n, keepdims: 0n } },
    ],
    inputs: [{ name: 'features', dtype: 'float32', shape: ['batch', 4] }],
    outputs: [
      { name: 'probabilities', dtype: 'float32', shape: ['batch', 3] },
      { name: 'label', dtype: 'int64', shape: ['batch'] },
    ],
    initializers: { w: floats([4, 3], weights), b: floats([3], BIASES) },
  })
}

function perceptron(): Uint8Array {
  return buildModel({
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w'], outputs: ['h'] },
      { op: 'Relu', inputs: ['h'], outputs: ['y'] },
    ],
    inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 4] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: ['batch', 3] }],
    initializers: { w: floats([4, 3], WEIGHTS) },
  })
}

/** What the classifier gives for FEATURES, computed here. */
function classified(): { probabilities: number[]; labels: number[] } {
  const rows = [FEATURES.slice(0, 4), FEATURES.slice(4)].map((row) => {
    const logits = BIASES.map((bias, column) => row.reduce((sum, x, i) => sum + x * WEIGHTS[3 * i + column]!, bias))
    const powers = logits.map(Math.exp)
    const total = powers.reduce((sum, power) => sum + power, 0)
    return powers.map((power) => power / total)
  })
  return { probabilities: rows.flat(), labels: rows.map((row) => row.indexOf(Math.max(...row))) }
}

/** A folder with everything that documented commands name, as in a project that has installed assay. */
export async function sampleProject(): Promise<string> {
  const folder = temporaryFolder('docs')
  for (const name of ['models', 'more', 'recordings', 'metrics', 'node_modules', 'bin']) mkdirSync(join(folder, name))
  symlinkSync(root, join(folder, 'node_modules/assay'))
  for (const name of ['onnxruntime-node', 'onnxruntime-web'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  for (const name of ['model.onnx', 'models/classifier.onnx', 'more/other.onnx'])
    writeFileSync(join(folder, name), classifier())
  writeFileSync(join(folder, 'models/mlp.onnx'), perceptron())
  writeFileSync(join(folder, 'faulty.onnx'), classifier(WEIGHTS.with(3, 0.95)))
  copyFixture('onnx-cases/test_basic_conv_without_padding', join(folder, 'conv_test'))
  cpSync(join(root, 'examples/decoders/shakespeare'), join(folder, 'shakespeare'), { recursive: true })
  cpSync(join(root, 'examples/convergence'), join(folder, 'examples/convergence'), { recursive: true })
  const { probabilities, labels } = classified()
  await writePlanted(folder)
  await writeNpy(join(folder, 'features.npy'), memorySource('features', floats([2, 4], FEATURES)))
  await writeNpy(join(folder, 'recordings/probabilities.npy'), memorySource('p', floats([2, 3], probabilities)))
  const label: Tensor = { dtype: 'int64', shape: [2], bytes: encodeNumbers('int64', labels) }
  await writeNpy(join(folder, 'recordings/label.npy'), memorySource('label', label))
  await writeSampleMetrics(join(folder, 'metrics'))
  writeScript(join(folder, 'bin/assay'), `exec '${process.execPath}' '${main}' "$@"`)
  writeScript(join(folder, 'bin/npx'), `shift; exec '${process.execPath}' '${main}' "$@"`)
  return folder
}

/** As a baseline of two shapes leaves them. */
async function writeSampleMetrics(folder: string): Promise<void> {
  const numbers = (least: number) => Array.from({ length: 400 }, (_, i) => least * (1 + ((i * 37) % 400) / 100))
  const values = { ce: numbers(0.6), diff_mean: numbers(1e-4), prob_mean: numbers(0.01), prob_std: numbers(0.01) }
  for (const batchSize of [1, 8]) {
    const shape = { newTokens: 128, batchSize, promptLength: 64, dtype: 'fp16' }
    await writeMetricFiles(folder, 'org/model', shape, values)
  }
}

function writeScript(path: string, line: string): void {
  writeFileSync(path, `#!/bin/sh\n${line}\n`)
  chmodSync(path, 0o755)
}

interface CommandLine {
  readonly env: Record<string, string>
  readonly args: readonly string[]
}

/** `NAME=value assay word …` in words; null where only a shell knows what a line means. */
function commandLine(line: string): CommandLine | null {
  const code = line.replace(/ +# .*$/, '')
  if (/[|&;<>$`*?~(){}\\\n]/.test(code)) return null
  const words = (code.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? []).map((word) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  )
  const at = words.indexOf('assay')
  const env = words.slice(0, at).filter((word) => word.includes('='))
  return { env: Object.fromEntries(env.map((word) => word.split(/=(.*)/s, 2))), args: words.slice(at + 1) }
}

/** Runs a line as a reader would, in this process where no shell is needed. */
export async function runLine(line: string, cwd: string): Promise<{ code: number | null; output: string }> {
  const command = commandLine(line)
  if (command === null) return shell(line, cwd)
  const env = { ASSAY_SCOPE: undefined, ASSAY_PYTHON: TEST_PYTHON, ...command.env }
  const { code, stdout, stderr } = await assay(command.args, cwd, env)
  return { code, output: stdout + stderr }
}

/** With `assay` and `npx assay` at hand. */
function shell(line: string, cwd: string): Promise<{ code: number | null; output: string }> {
  const env = {
    ...process.env,
    PATH: `${join(cwd, 'bin')}:${process.env.PATH}`,
    CI: '',
    GITHUB_ACTIONS: '',
    NO_COLOR: '1',
    ASSAY_PYTHON: TEST_PYTHON ?? '',
  }
  const child = spawn('sh', ['-c', line], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return new Promise((done, reject) => {
    child.on('error', reject)
    child.on('close', (code) => done({ code, output }))
  })
}
