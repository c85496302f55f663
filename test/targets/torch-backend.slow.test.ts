import { appendFileSync, copyFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { assay, assayJson, project, root } from '../support/assay.ts'
import { runLine } from '../support/docs-project.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'

const env = { ASSAY_PYTHON: TEST_PYTHON ?? 'python3' }
const BACKEND = 'tiny_backend.py'
const TINY = `torch:cpu,dtype=bf16,compile=tiny,import=./${BACKEND}`
const FAULTY = `${TINY},compile-option=fault=drop-column`

/** Says which process imported it. */
const tells = (name: string) => `import os\nopen(${JSON.stringify(name)}, "a").write(f"{os.getpid()}\\n")\n`
const pidsIn = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n')

/** A Llama with ONNX files in `micro`, and with its PyTorch weights alone in `weights`. */
async function llamaProject(): Promise<string> {
  const folder = project()
  for (const name of ['micro', 'weights']) {
    const made = await assay(['micro', 'llama', '--hidden', '32', '--layers', '2', '-o', name], folder)
    expect(made.code, made.stderr).toBe(0)
  }
  rmSync(join(folder, 'weights/onnx'), { recursive: true })
  copyFileSync(join(root, 'examples/torch-backend', BACKEND), join(folder, BACKEND))
  return folder
}

describeWithPython('a backend of torch.compile that a file registers', 'torch, transformers', () => {
  let folder: string
  beforeAll(async () => {
    folder = await llamaProject()
  })
  const judge = (...words: string[]) => assayJson(words, folder, env)

  test('passes on a folder, and with a planted fault it fails; the record says what was imported', async () => {
    const targets = ['--target', `healthy=${TINY}`, '--target', `faulty=${FAULTY}`]
    const { code, results, stderr } = await judge('test', 'weights', ...targets)
    const [faulty, healthy] = results
    expect([code, faulty!.target, healthy!.target], stderr).toEqual([1, 'faulty', 'healthy'])
    expect([faulty!.verdict, healthy!.verdict], stderr).toEqual(['fail', 'pass'])
    expect(healthy!.measurements['target.imports']).toMatch(
      /^tiny_backend \(\.\/tiny_backend\.py, sha256 [0-9a-f]{16}\)$/,
    )
    expect(healthy!.measurements).toMatchObject({ 'target.compile': 'tiny', 'target.precision': 'bfloat16' })
    expect(faulty!.measurements['target.compileOptions']).toBe('fault=drop-column')
    const steps = healthy!.steps.map(({ title, stage }) => [title, stage])
    expect(steps).toContainEqual(['compile on healthy', 'compile'])
    expect(steps).toContainEqual(['warm up on healthy', 'compile'])
  })

  test('passes as a decoder, and with a planted fault it fails', async () => {
    const sizes = ['--batch-size', '2', '--prompt-length', '16', '--max-new-tokens', '6', '--tokens-per-sequence', '6']
    const targets = ['--target', `healthy=${TINY}`, '--target', `faulty=${FAULTY}`]
    const { results, stderr } = await judge('decoders', 'test', 'micro', ...sizes, ...targets)
    const verdicts = results.map(({ target, verdict }) => [target, verdict]).sort()
    expect(verdicts, stderr).toEqual([
      ['faulty', 'fail'],
      ['healthy', 'pass'],
    ])
  })

  test('gives what its snapshot has, and with a planted fault it does not', async () => {
    const expected = (spec: string, ...words: string[]) =>
      judge('expect', 'weights', '-k', 'output', '--target', `x=${spec}`, ...words)
    expect((await expected(TINY, '--capture')).results[0]!.verdict).toBe('captured')
    const [healthy] = (await expected(TINY)).results
    expect(healthy!.verdict, healthy!.reason).toBe('pass')
    const { code, results } = await expected(FAULTY)
    expect([code, results[0]!.verdict]).toEqual([1, 'fail'])
    expect(results[0]!.figures!.join()).toContain('compileOptions: not recorded → fault=drop-column')
  })

  test('does what its README says', async () => {
    const away = project()
    cpSync(join(root, 'examples/torch-backend'), join(away, 'examples/torch-backend'), { recursive: true })
    const page = readFileSync(join(root, 'examples/torch-backend/README.md'), 'utf8')
    const lines = [...page.matchAll(/^npx assay .*$/gm)].map(([line]) => line)
    expect(lines).toHaveLength(11)
    for (const line of lines) {
      const { code, output } = await runLine(line, away)
      expect(code, `${line}\n${output}`).toBe(Number(/# exits with (\d)/.exec(line)?.[1] ?? 0))
    }
  })

  test('what cannot be found or imported is told with the words of torch and Python', async () => {
    writeFileSync(join(folder, 'throws.py'), 'raise RuntimeError("no driver 7.1")\n')
    writeFileSync(join(folder, 'json.py'), '')
    const cases: readonly (readonly [target: string, message: RegExp])[] = [
      [
        `torch:cpu,compile=tinny,import=./${BACKEND}`,
        /knows no backend "tinny"; did you mean "tiny"\? known: aot_eager, .*, tiny, .*; import= names modules that register more$/,
      ],
      ['torch:cpu,compile=sendnn', /knows no backend "sendnn"; known: .*inductor.*; import= names/],
      ['torch:cpu,compile-option=a=1', /compile-option= is for a backend; name it with compile=$/],
      [
        `torch:cpu,compile=tiny,import=./${BACKEND},compile-option=fault=x`,
        /backend='tiny' raised: ValueError: fault=x/,
      ],
      ['torch:cpu,import=./none.py', /import=\.\/none\.py: there is no such file$/],
      ['torch:cpu,import=./micro', /import=\.\/micro: there is no __init__\.py in this folder$/],
      [
        'torch:cpu,import=no_such_plugin',
        /ModuleNotFoundError: No module named 'no_such_plugin'; names are found in \S+ and PYTHONPATH, files by a path such as \.\/no_such_plugin\.py$/,
      ],
      ['torch:cpu,import=tiny_backend', /No module named 'tiny_backend'; did you mean import=\.\/tiny_backend\.py\?$/],
      [
        'torch:cpu,import=./throws.py',
        /import=\.\/throws\.py failed: RuntimeError: no driver 7\.1 \(throws\.py, line 1\)$/,
      ],
      ['torch:cpu,import=./json.py', /Python has another module "json"; rename the file$/],
    ]
    const targets = cases.flatMap(([target], i) => ['--target', `t${i}=${target}`])
    const { results } = await judge('test', 'weights', '--reference', 'torch:cpu', ...targets)
    for (const [i, [target, message]] of cases.entries()) {
      const { verdict, error } = results.find((result) => result.target === `t${i}`)!
      expect([verdict, error?.message], target).toEqual(['error', expect.stringMatching(message)])
      const stage = i < 4 ? 'compile' : 'discover'
      expect([error!.stage, error!.side], target).toEqual([stage, 'target'])
    }
  })

  test('nothing of a model’s folder is imported, whatever its config.json says', async () => {
    const hostile = await llamaProject()
    const path = join(hostile, 'weights/config.json')
    const config = JSON.parse(readFileSync(path, 'utf8'))
    const named = { import: './evil.py', imports: ['evil'], compile: 'evil', torch_backend: 'evil' }
    writeFileSync(path, JSON.stringify({ ...config, ...named, assay: { targets: { 'torch:cpu': named } } }))
    for (const place of ['weights/evil.py', 'evil.py', 'weights/tiny_backend.py', 'torch_sendnn.py'])
      writeFileSync(join(hostile, place), tells(join(hostile, 'trace')))
    const { results, stderr } = await assayJson(['test', 'weights', '--target', TINY], hostile, env)
    expect(
      results.map(({ verdict }) => verdict),
      stderr,
    ).toEqual(['pass'])
    expect(existsSync(join(hostile, 'trace'))).toBe(false)
  })

  test('targets that import different modules share no worker', async () => {
    for (const name of ['one', 'two']) writeFileSync(join(folder, `${name}.py`), tells(join(folder, `${name}.pids`)))
    const half = 'torch:cpu,dtype=bf16'
    const targets = [half, `${half},import=./one.py`, `${half},import=./one.py,import=./two.py`]
    const { code, stderr } = await judge('test', 'weights', ...targets.flatMap((each) => ['--target', each]))
    expect(code, stderr).toBe(0)
    const [one, two] = [pidsIn(folder, 'one.pids'), pidsIn(folder, 'two.pids')]
    expect(one).toEqual(expect.arrayContaining(two))
    expect(one.filter((pid) => !two.includes(pid))).not.toEqual([])
  })

  test('a trace is computed again once the file has changed', async () => {
    const isCached = async () => {
      const { results } = await judge('test', 'weights', '--target', `again=${TINY}`)
      return results[0]!.steps.find(({ side, stage }) => side === 'target' && stage === 'run')!.cached
    }
    await isCached()
    expect(await isCached()).toBe(true)
    appendFileSync(join(folder, BACKEND), '# Changed.\n')
    expect(await isCached()).toBe(false)
  })

  test('a path in a configuration is relative to the configuration', async () => {
    const away = project({ 'assay.config.json': JSON.stringify({ targets: { tiny: TINY } }) })
    copyFileSync(join(folder, BACKEND), join(away, BACKEND))
    const { code, results } = await judge(
      'test',
      'weights',
      '--config',
      join(away, 'assay.config.json'),
      '--target',
      'tiny',
    )
    expect([code, results[0]!.measurements['target.imports']]).toEqual([0, expect.stringContaining('tiny_backend')])
  })

  test('devices of a plug-in are found; what torch cannot run there is told plainly', async () => {
    const plugin = `
import torch, types
torch.utils.rename_privateuse1_backend("npu")
module = types.ModuleType("npu")
module.is_available, module.device_count = lambda: True, lambda: 2
torch._register_device_module("npu", module)
`
    writeFileSync(join(folder, 'npu_plugin.py'), plugin)
    const cases: readonly (readonly [string, RegExp])[] = [
      ['torch:npu', /torch \S+ has no device "npu" here, only cpu.*; import= names modules that add more$/],
      ['torch:npu:2,import=./npu_plugin.py', /no device "npu:2" here, only cpu.*, npu:0 to npu:1; /],
      ['torch:npu,import=./npu_plugin.py', /the weights cannot be moved to npu: RuntimeError: .*npu/],
      ['torch:meta', /the device "meta" has shapes and no numbers, so nothing can be compared$/],
    ]
    const targets = cases.flatMap(([target], i) => ['--target', `d${i}=${target}`])
    const { results } = await judge('test', 'weights', ...targets)
    for (const [i, [target, message]] of cases.entries()) {
      const { error } = results.find((result) => result.target === `d${i}`)!
      expect(error?.message, target).toMatch(message)
    }
  })
})
