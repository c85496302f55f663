// Plants faults in random layers of real models, each large enough to move the whole model's output over its tolerance,
// and has the command line judge whole models and layers: of the layers exactly the faulty one must fail.
// Then faults that hide in the noise of a sensitive model: none of them may pass because of its layers.
//   node bench/planted-layers.mjs [--per-model 4] [--seed 0] [--no-visible] [--no-hidden] [model id …]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'
import { ensureBuilt, root } from '../scripts/setup.mjs'

const jiti = createJiti(import.meta.url)
const { realModels } = await jiti.import('../examples/real-models/real-models.ts')
const { faultPlaces } = await jiti.import('../test/faults/faults.ts')
const { plantFaults } = await jiti.import('../test/faults/planted-faults.ts')
const { randomStream } = await jiti.import('../src/models/random.ts')

const MODELS = [
  'silero_vad_v5',
  'ch_PP-OCRv4_det_infer',
  'ch_PP-OCRv4_rec_infer',
  'ch_ppocr_mobile_v2.0_cls_infer',
  'decoder_model_merged',
]
/** Times one weight; integer weights have no size to scale, there two channels are swapped. */
const FACTORS = [2, 16, 128, 1024, 16384]
const TRIED_AT_ONCE = 6

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    'per-model': { type: 'string', default: '4' },
    seed: { type: 'string', default: '0' },
    visible: { type: 'boolean', default: true },
    hidden: { type: 'boolean', default: true },
  },
})
const work = mkdtempSync(join(tmpdir(), 'planted-layers-'))

function assay(model, targets, scope) {
  const argv = ['test', model.path, '--config', join(root, 'examples/real-models/assay.config.ts'), '--json']
  argv.push('--scope', scope, '--output-dir', join(work, 'runs'), '--cache-dir', join(work, 'cache'))
  for (const { name, path } of targets) argv.push('--target', `${name}=ort:cpu,model=${path}`)
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 30 }
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), ...argv], options)
  if (status !== 0 && status !== 1 && status !== 5) throw new Error(`exit ${status}: ${stderr}`)
  return JSON.parse(stdout).results
}

/** Faults that the whole model's output shows, each of the smallest size that does. */
function plantVisible(model, count) {
  const isFloat = model.computes === 'float32'
  const random = randomStream(Number(values.seed), model.id)
  const places = faultPlaces(new Uint8Array(readFileSync(model.path)))
    .filter(({ kind }) => kind === (isFloat ? 'weight' : 'channels'))
    .map((place) => ({ place, order: random.unit(), pick: random.unit() }))
    .sort((a, b) => a.order - b.order)
  const found = []
  let tried = 0
  while (found.length < count && tried < places.length) {
    const batch = places.slice(tried, tried + TRIED_AT_ONCE)
    const faults = batch.flatMap(({ place, pick }, i) => planted(place, pick, tried + i, isFloat ? FACTORS : [1]))
    tried += batch.length
    const verdicts = new Map(assay(model, faults, 'full').map(({ target, verdict }) => [target, verdict]))
    for (const { place } of batch) {
      const visible = faults.find((fault) => fault.place === place && verdicts.get(fault.name) === 'fail')
      if (visible && found.length < count) found.push(visible)
    }
  }
  return { found, tried }
}

function planted(place, pick, k, factors) {
  return factors.flatMap((factor) => {
    const name = `k${k}x${factor}`
    const path = join(work, `${name}.onnx`)
    try {
      writeFileSync(path, place.plant({ pick, factor }))
    } catch (error) {
      if (/change nothing/.test(error.message)) return []
      throw error
    }
    return [{ name, path, place, factor }]
  })
}

/** `Conv "name" in graph` → the end of the layer's scope. */
const nameIn = (where) => /^(\w+) "(.*)" in /.exec(where).slice(1)

const wrong = []

function judgeVisible() {
  const ids = positionals.length > 0 ? positionals : MODELS
  let count = 0
  console.log('| model | faulty layer | weight × | whole | layers that fail |\n|---|---|---|---|---|')
  for (const id of ids) {
    const model = realModels.find((known) => known.id === id)
    const { found, tried } = plantVisible(model, Number(values['per-model']))
    const results = assay(model, found, 'full,layers')
    for (const { name, place, factor } of found) {
      const own = results.filter(({ target }) => target === name)
      const whole = own.find(({ scope }) => scope === 'full_model')
      const failing = own.filter(({ part, verdict }) => part && (verdict === 'fail' || verdict === 'error'))
      const [op, node] = nameIn(place.where)
      const isRight = failing.length === 1 && failing[0].part.op === op && failing[0].scope.endsWith(node)
      count++
      if (!isRight || whole.verdict === 'pass') wrong.push(`${id} ${place.where}`)
      const scopes = failing.map(({ scope }) => scope).join(', ') || 'none'
      console.log(`| ${id} | ${op} ${node} | ${factor} | ${whole.verdict} | ${scopes}${isRight ? '' : ' WRONG'} |`)
    }
    process.stderr.write(`${id}: ${found.length} visible faults of ${tried} places tried\n`)
  }
  console.log(`\n${count - wrong.length} of ${count} faults found in exactly their layer\n`)
}

const SENSITIVE = ['encoder_model', 'decoder_model_merged']

function judgeHidden() {
  console.log('| model | fault | whole | layers that fail |\n|---|---|---|---|')
  for (const id of SENSITIVE) {
    const model = realModels.find((known) => known.id === id)
    const faults = plantFaults(model, join(work, id), Number(values['per-model']), Number(values.seed))
    const whole = assay(model, faults, 'full')
    const hidden = faults.filter(({ name }) =>
      whole.some((one) => one.target === name && one.verdict === 'inconclusive'),
    )
    const results = hidden.length > 0 ? assay(model, hidden, 'full,layers') : []
    for (const { name, where } of hidden) {
      const own = results.filter(({ target }) => target === name)
      const { verdict } = own.find(({ scope }) => scope === 'full_model')
      const failing = own.filter((one) => one.part && one.verdict === 'fail').map(({ scope }) => scope)
      if (verdict === 'pass') wrong.push(`${id} ${where} passes`)
      console.log(`| ${id} | ${name}, ${where} | ${verdict} | ${failing.join(', ') || 'none'} |`)
    }
  }
}

ensureBuilt()
try {
  if (values.visible) judgeVisible()
  if (values.hidden) judgeHidden()
} finally {
  rmSync(work, { recursive: true, force: true })
}
for (const problem of wrong) console.log(`WRONG: ${problem}`)
process.exitCode = wrong.length > 0 ? 1 : 0
