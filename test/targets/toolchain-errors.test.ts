import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { identity } from '../conformance/models.ts'
import { assay, assayJson, closeWorkers, ended, project, root, startAssay, temporaryFolder } from '../support/assay.ts'
import { said, until } from '../support/events.ts'
import { describeWith } from '../support/needs.ts'
import { affineModel } from '../support/small-models.ts'
import { survivorsOf } from '../support/survivors.ts'

const TOOL = join(root, 'test/workers/faulty-tool.mjs')
const NODE = process.execPath

interface Choices {
  readonly tensors?: string
  readonly limits?: Record<string, string>
}

/** A toolchain of the faulty tool. */
function faulty(how: string, { tensors = 'npy', limits = {} }: Choices = {}) {
  const together = tensors === 'safetensors'
  return {
    compile: [NODE, TOOL, 'compile', how, '{model}', '{artifact}'],
    run: [
      NODE,
      TOOL,
      'run',
      how,
      '{artifact}',
      together ? '{inputs}' : '{input}',
      '--',
      together ? '{outputs}' : '{output}',
    ],
    tensors,
    limits,
    env: ['MARK'],
  }
}

const config = (toolchains: Record<string, unknown>, more = {}) => JSON.stringify({ toolchains, ...more })

describe('a toolchain that fails is an error at its stage, and says how', () => {
  const COMPILE_ERRORS = {
    fails:
      /^toolchain:fails: node faulty-tool\.mjs ended with exit code 3: error: MatMul of 5 dimensions is not supported$/,
    dies: /^toolchain:dies: node faulty-tool\.mjs was killed by SIGSEGV$/,
    hangs: /^toolchain:hangs: node faulty-tool\.mjs did not end within 700 ms$/,
    'no-artifact': /^toolchain:no-artifact: node faulty-tool\.mjs succeeded but wrote no \{artifact\}$/,
    'empty-artifact': /: node faulty-tool\.mjs succeeded but wrote an empty \{artifact\}$/,
    floods: /^toolchain:floods: node faulty-tool\.mjs ended with exit code 1/,
  }
  const RUN_ERRORS = {
    'wrong-shape': /: output "y" has shape \(3, 2\), the model declares \(2, 3\)$/,
    'wrong-dtype': /: output "y" is float64, the model declares float32; if another precision is intended, set dtype=$/,
    'no-output': /: output "y" was not written: there is no output_0\.npy in \{outputs\}$/,
    garbage: /: output "y" cannot be read: \{outputs\}\/output_0\.npy is .*expected an \.npy file/,
    'cut-off': /: output "y" cannot be read: .*20 bytes of data/,
    'raw-short': /: output "y" has 20 bytes, but float32 of shape \(2, 3\), as the model declares, takes 24$/,
    'run-fails': /^toolchain:run-fails: node faulty-tool\.mjs ended with exit code 7: device lost$/,
    'run-hangs': /^toolchain:run-hangs: node faulty-tool\.mjs did not end within 700 ms$/,
  }
  const folder = project({ 'model.onnx': affineModel() })
  const tmp = temporaryFolder('tmp')
  const mark = `toolchain ${folder}`
  let results: readonly Result[] = []
  let runFolder = ''

  beforeAll(async () => {
    const hows = [...Object.keys(COMPILE_ERRORS), ...Object.keys(RUN_ERRORS)]
    const choices = (how: string): Choices => ({
      ...(how === 'raw-short' && { tensors: 'raw' }),
      ...(how === 'hangs' && { limits: { compile: '700ms' } }),
      ...(how === 'run-hangs' && { limits: { run: '700ms' } }),
    })
    const toolchains = Object.fromEntries(hows.map((how) => [how, faulty(how, choices(how))]))
    const path = join(folder, 'tools.json')
    writeFileSync(path, config(toolchains))
    const targets = hows.flatMap((how) => ['--target', `toolchain:${how}`])
    const report = await assayJson(['test', 'model.onnx', '--config', 'tools.json', ...targets], folder, {
      MARK: mark,
      TMPDIR: tmp,
    })
    results = report.results
    runFolder = join(folder, '.assay/runs', report.run.id)
    expect(report.code).toBe(1)
  }, 240_000)

  const errorOf = (how: string) => results.find(({ target }) => target === `toolchain:${how}`)!.error!

  test.each(Object.entries(COMPILE_ERRORS))('compile: %s', (how, message) => {
    const error = errorOf(how)
    expect(error).toMatchObject({ stage: 'compile', side: 'target' })
    expect(error.message).toMatch(message)
    expect(error.argv!.slice(0, 4)).toEqual([NODE, TOOL, 'compile', how])
  })

  test.each(Object.entries(RUN_ERRORS))('run: %s', (how, message) => {
    const error = errorOf(how)
    expect(error).toMatchObject({ stage: 'run', side: 'target' })
    expect(error.message).toMatch(message)
    expect(error.argv!.slice(0, 4)).toEqual([NODE, TOOL, 'run', how])
  })

  test('exit code and signal are recorded, with the end of both streams', () => {
    expect(errorOf('fails')).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('MatMul of 5 dimensions') })
    expect(errorOf('fails').stderr).toContain('lowering MatMul …')
    expect(errorOf('dies')).toMatchObject({ signal: 'SIGSEGV' })
  })

  test('all that a tool printed stays with the run, of a flood the beginning and the end', () => {
    const artifactsOf = (how: string) => results.find(({ target }) => target === `toolchain:${how}`)!.artifacts
    const [log] = artifactsOf('fails').filter(({ name }) => name === 'target-compile.log')
    expect(readFileSync(join(runFolder, log!.path), 'utf8')).toBe(
      'lowering MatMul …\nerror: MatMul of 5 dimensions is not supported\n1 pass failed\n',
    )
    const [flood] = artifactsOf('floods').filter(({ name }) => name === 'target-compile.log')
    expect(flood!.bytes).toBeLessThan(65 * 2 ** 20)
    const text = readFileSync(join(runFolder, flood!.path), 'utf8')
    expect(text.slice(0, 2000)).toContain('the first words')
    expect(text.slice(-60_000)).toMatch(/… \d+ bytes left out, then the end …/)
    expect(text.slice(-200)).toContain('the last words')
    expect(artifactsOf('run-fails').map(({ name }) => name)).toEqual(['target-run.log'])
  })

  test('no process and no folder is left', async () => {
    await closeWorkers()
    await until(() => survivorsOf(mark).length === 0, 'its processes have ended')
    expect(readdirSync(tmp)).toEqual([])
  })
})

describe('how tensors are handed over', () => {
  test.each([
    ['npy', 'copies'],
    ['raw', 'copies'],
    ['safetensors', 'renames'],
  ])('%s', async (tensors, how) => {
    const toolchains = { mine: faulty(how, { tensors }) }
    const folder = project({ 'model.onnx': identity('float32'), 'assay.config.json': config(toolchains) })
    const { results, stderr } = await assayJson(
      ['test', 'model.onnx', '--target', 'toolchain:mine', '--dim', 'n=5'],
      folder,
    )
    expect(results[0]?.verdict, stderr).toBe('pass')
  })

  test('a safetensors file without the output tells what it has', async () => {
    const toolchains = { mine: faulty('copies', { tensors: 'safetensors' }) }
    const folder = project({ 'model.onnx': identity('float32'), 'assay.config.json': config(toolchains) })
    const { results } = await assayJson(['test', 'model.onnx', '--target', 'toolchain:mine'], folder)
    expect(results[0]!.error).toMatchObject({ stage: 'run', message: expect.stringContaining('{outputs} holds "x"') })
  })

  test('a dtype that a file of this kind cannot hold is a skip', async () => {
    const folder = project({
      'model.onnx': identity('string'),
      'assay.config.json': config({ mine: faulty('copies', { tensors: 'raw' }) }),
    })
    const { results } = await assayJson(['test', 'model.onnx', '--target', 'toolchain:mine'], folder)
    expect(results[0]).toMatchObject({ verdict: 'skip', reason: 'toolchain:mine cannot take string inputs' })
  })
})

describe('what a configuration says wrong is refused before anything runs (exit 4)', () => {
  const good = faulty('copies')
  test.each<[string, unknown, string, string]>([
    ['an unknown toolchain', good, 'toolchain:mien', 'unknown toolchain "mien"; did you mean "mine"?'],
    ['an unknown placeholder', { ...good, run: ['r', '{artefact}'] }, 'toolchain:mine', 'did you mean {artifact}?'],
    ['an empty list', { ...good, compile: [] }, 'toolchain:mine', 'compile is empty, expected a program'],
    ['one text', { ...good, compile: 'cc {model}' }, 'toolchain:mine', "Write ['cc', '{model}']"],
    ['a mistyped key', { ...good, tensor: 'npy' }, 'toolchain:mine', 'did you mean "tensors"?'],
  ])('%s', async (_, mine, target, words) => {
    const folder = project({ 'model.onnx': affineModel(), 'assay.config.json': config({ mine }) })
    const { code, stderr } = await assay(['test', 'model.onnx', '--target', target], folder)
    expect(stderr.replace(/\s+/g, ' ')).toContain(words)
    expect(code).toBe(4)
  })
})

describeWith('linux', process.platform === 'linux', 'ending a run ends its tools', () => {
  test.each([
    ['Ctrl-C, twice', ['SIGINT', 'SIGINT'] as const],
    ['kill -9', ['SIGKILL'] as const],
  ])('%s', async (_, signals) => {
    const tmp = temporaryFolder('tmp')
    const toolchains = { mine: faulty('hangs') }
    const folder = project({ 'model.onnx': affineModel(), 'assay.config.json': config(toolchains) })
    const mark = `ending ${folder}`
    const child = startAssay(['test', 'model.onnx', '--target', 'toolchain:mine'], folder, {
      MARK: mark,
      TMPDIR: tmp,
    })
    const end = ended(child)
    const tools = () => survivorsOf(mark).filter((argv) => argv.includes('hangs') || argv.includes('-e'))
    await until(() => tools().length === 2, 'a tool and its child hang')
    const warned = said(child.stderr, 'interrupt again to stop now')
    for (const [i, signal] of signals.entries()) {
      if (i > 0) await warned
      child.kill(signal)
    }
    await end
    await until(() => survivorsOf(mark).length === 0, 'its processes have ended')
    expect(readdirSync(tmp)).toEqual([])
  })
})

test('a tool whose children keep its pipes open does not hold up the run', async () => {
  const toolchains = { mine: { ...faulty('keeps-pipes'), run: faulty('copies').run } }
  const folder = project({ 'model.onnx': identity('float32'), 'assay.config.json': config(toolchains) })
  const pid = join(folder, 'pid')
  const { results } = await assayJson(['test', 'model.onnx', '--target', 'toolchain:mine'], folder, { MARK: pid })
  expect(results[0]!.verdict).toBe('pass')
  // The child is still there to be ended.
  expect(process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL')).toBe(true)
})

describe('what the name of a chip holds', () => {
  const withChip = { ...faulty('copies'), compile: [...faulty('copies').compile, '{chip}'] }
  const newProject = () =>
    project({ 'model.onnx': identity('float32'), 'assay.config.json': config({ mine: withChip }) })

  test('stays within its argument: there is no shell', async () => {
    const folder = newProject()
    const target = 'mine=toolchain:mine,chip=; touch pwned; $(touch pwned) `touch pwned`'
    const { results } = await assayJson(['test', 'model.onnx', '--target', target], folder)
    expect(results[0]!.verdict).toBe('pass')
    expect(readdirSync(folder)).not.toContain('pwned')
  })

  test('is no option of the tool', async () => {
    const target = 'mine=toolchain:mine,chip=--output=pwned'
    const { results } = await assayJson(['test', 'model.onnx', '--target', target], newProject())
    const message =
      'mine: {chip} stands for "--output=pwned", which a tool would take for an option; write --chip={chip}'
    expect(results[0]!.error).toMatchObject({ stage: 'compile', message })
  })
})

test('a compiler that hangs is awaited once for all of its forms', async () => {
  const hangs = faulty('hangs', { limits: { compile: '1s' } })
  const mine = { ...hangs, compile: [...hangs.compile, '{ir_dir}'], ir: ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt'] }
  const folder = project({ 'model.onnx': affineModel(), 'assay.config.json': config({ mine }) })
  const args = ['test', 'model.onnx', '--target', 'mine=toolchain:mine', '--debug-ir', 'ir']
  const { stderr, stdout } = await assay(args, folder)
  expect(`${stdout}${stderr}`).toContain('a, b, c, d, e failed: mine: node faulty-tool.mjs did not end within 1000 ms')
})
