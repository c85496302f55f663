// Plants faults in the real models, has the command line judge them, measures them again and prints the tables of
// docs/planted-faults.md:  node bench/planted-faults.mjs [--per-kind 4] [--seed 0] [--no-sizes] [--all] [model id …]
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'
import { ensureBuilt, root } from '../scripts/setup.mjs'

const jiti = createJiti(import.meta.url)
const { realModels } = await jiti.import('../examples/real-models/real-models.ts')
const { faultPlaces } = await jiti.import('../test/faults/faults.ts')
const { contradictions, FAULT_KINDS, judgeAndMeasure, plantFaults } = await jiti.import(
  '../test/faults/planted-faults.ts',
)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'per-kind': { type: 'string', default: '4' },
    seed: { type: 'string', default: '0' },
    sizes: { type: 'boolean', default: true },
    all: { type: 'boolean', default: false },
  },
  allowNegative: true,
})

/** Sizes of a perturbation: doubled until it is caught. */
const SIZES = Array.from({ length: 18 }, (_, i) => 1e-4 * 2 ** i)
const SIZE_PLACES = 3

const work = mkdtempSync(join(tmpdir(), 'planted-faults-'))
const problems = []
const bands = []

function note(text) {
  process.stderr.write(`${text}\n`)
}

/** One run of the command line on one model. */
function assay(model, targets, extra = []) {
  const runs = join(work, 'runs')
  const argv = [
    'test',
    model.path,
    '--config',
    join(root, 'examples/real-models/assay.config.ts'),
    '--json',
    '--scope',
    'full',
  ]
  argv.push('--output-dir', runs, '--cache-dir', join(work, 'cache'), ...extra)
  for (const target of targets) argv.push('--target', target)
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 30 }
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), ...argv], options)
  if (status !== 0 && status !== 1 && status !== 5) note(`exit ${status}: ${stderr}`)
  const { run, results } = JSON.parse(stdout)
  for (const { band = [], flags, id } of results) {
    for (const part of band) bands.push({ ...part, id, model: model.id, computes: model.computes, flags })
  }
  return { folder: join(runs, run.id), results: new Map(results.map((result) => [result.target, result])) }
}

async function judge(model, targets) {
  const measured = await judgeAndMeasure(targets, model.computes, async (...parts) => assay(model, ...parts))
  return measured.map(({ result, loads }) => {
    problems.push(...contradictions(result, loads))
    const none = { load: 0, relL2: 0, maxAbs: 0, maxReference: 1 }
    const worst = loads.reduce((most, part) => (part.load > most.load ? part : most), none)
    return { target: result.target, verdict: result.verdict, isSame: loads.length === 0, ...worst }
  })
}

async function judgeFaults(model) {
  const folder = join(work, model.id)
  const perKind = Number(values['per-kind']) * (hasBranches(model) ? 2 : 1)
  const faults = plantFaults(model, folder, perKind, Number(values.seed))
  const onWasm = FAULT_KINDS.flatMap((kind) => faults.find((fault) => fault.kind === kind) ?? [])
  const targets = [
    'healthy-wasm=ort-web:wasm',
    ...faults.map(({ name, path }) => `${name}=ort:cpu,model=${path}`),
    ...onWasm.map(({ name, path }) => `${name}-wasm=ort-web:wasm,model=${path}`),
  ]
  const found = await judge(model, targets)
  rmSync(folder, { recursive: true })
  const healthy = found.find(({ target }) => target === 'healthy-wasm')
  if (healthy.verdict !== 'pass' && healthy.verdict !== 'inconclusive') problems.push(`${model.id} is not healthy`)
  const rows = found.flatMap((row) => {
    const fault = faults.find(({ name }) => row.target === name || row.target === `${name}-wasm`)
    return fault ? [{ ...row, kind: fault.kind, where: fault.where, isWasm: row.target.endsWith('-wasm') }] : []
  })
  return { model, healthy, rows }
}

/** Half of its faults lie where no input leads. */
function hasBranches(model) {
  return faultPlaces(new Uint8Array(readFileSync(model.path))).some(({ where }) => where.includes('_branch of '))
}

function amount(value) {
  return value === 0
    ? '0'
    : value >= 0.01 && value < 1000
      ? Number(value.toPrecision(2)).toString()
      : value.toExponential(1)
}

function cell(rows) {
  if (rows.length === 0) return '–'
  const count = (verdict) => rows.filter((row) => row.verdict === verdict && !row.isSame)
  const parts = []
  for (const verdict of ['fail', 'inconclusive', 'error']) {
    if (count(verdict).length > 0) parts.push(`${count(verdict).length} ${verdict}`)
  }
  const passed = count('pass')
  if (passed.length > 0) parts.push(`${passed.length} pass (${amount(Math.max(...passed.map(({ load }) => load)))})`)
  const same = rows.filter(({ isSame }) => isSame).length
  if (same > 0) parts.push(`${same} no effect`)
  return parts.join(', ')
}

function table(header, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  console.log([line(header), line(header.map(() => '---')), ...rows.map(line), ''].join('\n'))
}

/** The smallest size of a fault that fails, at a few places of a model where the largest has an effect at all. */
function judgeSizes(model, kind, optionsOf) {
  const places = faultPlaces(new Uint8Array(readFileSync(model.path))).filter((place) => place.kind === kind)
  const found = []
  for (const { place, pick } of spread(places, kind === 'weight' ? [0.5, 0.13, 0.81] : [0.5])) {
    const verdictsAt = (sizes) =>
      judgeSized(
        model,
        place,
        sizes.map((size) => ({ ...optionsOf(size), pick })),
      )
    if (verdictsAt(SIZES.slice(-1))[0].isSame) continue
    const at = verdictsAt(SIZES).findIndex(({ verdict }) => verdict === 'fail')
    found.push(at < 0 ? Infinity : SIZES[at])
    if (found.length === SIZE_PLACES) break
  }
  return found
}

function judgeSized(model, place, options) {
  const folder = join(work, `${model.id}-sizes`)
  mkdirSync(folder, { recursive: true })
  const targets = options.map((option, i) => {
    const path = join(folder, `size${i}.onnx`)
    writeFileSync(path, place.plant(option))
    return `size${i}=ort:cpu,model=${path}`
  })
  const { results } = assay(model, targets)
  rmSync(folder, { recursive: true })
  return options.map((_, i) => {
    const { verdict, metrics } = results.get(`size${i}`)
    return { verdict, isSame: metrics.find(({ name }) => name === 'max_abs').value === 0 }
  })
}

/** Places far apart first, so that a few of them are spread over the graph; then the same with other elements. */
function spread(places, picks) {
  const order = [0.5, 0.1, 0.9, 0.3, 0.7].flatMap((at) => places[Math.floor(at * places.length)] ?? [])
  return picks.flatMap((pick) => [...new Set(order)].map((place) => ({ place, pick })))
}

function sizeText(found) {
  if (found.length === 0) return '–'
  return found.map((size) => (size === Infinity ? `> ${amount(SIZES.at(-1))}` : amount(size))).join(', ')
}

function version(name) {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version
}

ensureBuilt()
const models = realModels.filter(({ id }) => positionals.length === 0 || positionals.includes(id))
console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus()[0].model}, Node ${process.versions.node}, ` +
    `onnxruntime-node ${version('onnxruntime-node')}, onnxruntime-web ${version('onnxruntime-web')}\n`,
)
try {
  const judged = []
  for (const model of models) {
    note(`faults in ${model.id}`)
    judged.push(await judgeFaults(model))
  }
  for (const isWasm of [false, true]) {
    console.log(isWasm ? '### The first of each kind on ort-web:wasm\n' : '### On ort:cpu\n')
    const cells = ({ rows }) =>
      FAULT_KINDS.map((kind) => cell(rows.filter((row) => row.kind === kind && row.isWasm === isWasm)))
    table(
      ['model', ...FAULT_KINDS],
      judged.map((one) => [one.model.id, ...cells(one)]),
    )
  }
  console.log('### Healthy models on ort-web:wasm\n')
  table(
    ['model', 'verdict', 'relL2', 'worst error / max', 'load'],
    judged.map(({ model, healthy: { verdict, relL2, maxAbs, maxReference, load } }) => {
      return [model.id, verdict, amount(relL2), amount(maxAbs / maxReference), amount(load)]
    }),
  )
  console.log(values.all ? '### Every fault\n' : '### Faults that are too small to fail, on ort:cpu\n')
  const isListed = (row) => values.all || (row.verdict !== 'fail' && !row.isSame && !row.isWasm)
  table(
    ['model', 'fault', 'where', 'verdict', 'relL2', 'worst error / max', 'load'],
    judged.flatMap(({ model, rows }) =>
      rows.filter(isListed).map(({ target, where, verdict, relL2, maxAbs, maxReference, load }) => {
        return [model.id, target, where, verdict, amount(relL2), amount(maxAbs / maxReference), amount(load)]
      }),
    ),
  )
  if (values.sizes) {
    console.log('### The smallest fault that fails\n')
    const rows = models
      .filter(({ computes }) => computes === 'float32')
      .map((model) => {
        note(`sizes in ${model.id}`)
        const weights = judgeSizes(model, 'weight', (size) => ({ factor: 1 + size }))
        const epsilons = judgeSizes(model, 'epsilon', (size) => ({ epsilon: size }))
        return [model.id, sizeText(weights), sizeText(epsilons)]
      })
    table(['model', 'one weight × (1 + size)', 'epsilon'], rows)
  }
  console.log('### Widest sensitivity bands\n')
  for (const computes of ['float32', 'int8']) {
    const widest = bands.filter((band) => band.computes === computes).sort((a, b) => b.relL2 - a.relL2)[0]
    if (widest)
      console.log(`- ${computes}: ${widest.model} ${widest.output}, relL2 ${amount(widest.relL2)}, by ${widest.by}`)
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
for (const problem of problems) note(`CONTRADICTION ${problem}`)
process.exitCode = problems.length > 0 ? 1 : 0
