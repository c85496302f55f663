import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { assay, assayJson, main, project, root, temporaryFolder } from '../support/assay.ts'
import { describeWith } from '../support/needs.ts'
import { hasTerminals } from '../support/python.ts'
import { affineModel } from '../support/small-models.ts'

const LAYERS = { ASSAY_SCOPE: '' }

describe('assay init in an empty folder', () => {
  test('makes a project whose first run is green', async () => {
    const folder = temporaryFolder('first')
    const { code, stdout, stderr } = await assay(['init'], folder)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toBe(
      [
        '✓ assay.config.ts              models/**/*.onnx on ort-web:wasm',
        '✓ models/sample.onnx           a small convolutional classifier to try it on, 36.6 KiB',
        '✓ .github/workflows/assay.yml  judges every push and keeps the record',
        '',
        'next: npx assay run',
        'npm install --save-dev assay gives your editor the types of the configuration',
        '',
      ].join('\n'),
    )
    for (const name of ['onnxruntime-node', 'onnxruntime-web']) lendPackage(folder, name)
    const judged = await assayJson(['run'], folder, LAYERS)
    expect([judged.code, judged.results.map(({ verdict }) => verdict)]).toEqual([0, Array(10).fill('pass')])
    const scopes = judged.results.map(({ scope }) => scope)
    expect(scopes).toEqual(expect.arrayContaining(['full_model', 'layer_Conv_conv1', 'layer_Gemm_dense']))
  })

  test('works where assay is installed, whatever the kind of package', async () => {
    const folder = temporaryFolder('installed')
    writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }')
    symlinkSync(root, lendPackage(folder, 'onnxruntime-node', 'assay'))
    const { stdout } = await assay(['init', '--target', 'ort:cpu,optimization=disabled', '--ci', 'none'], folder)
    expect(stdout).not.toContain('npm install')
    expect(readdirSync(folder).sort()).toEqual(['assay.config.ts', 'models', 'node_modules', 'package.json'])
    const { code, results } = await assayJson(['run'], folder)
    expect([code, results.map(({ id }) => id)]).toEqual([0, ['sample/full_model@ort:cpu,optimization=disabled']])
  })

  test('gives an editor the types', async () => {
    const folder = temporaryFolder('typed')
    symlinkSync(root, lendPackage(folder, 'onnxruntime-node', 'assay'))
    await assay(['init', '--ci', 'none', '--no-sample'], folder)
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--skipLibCheck', 'assay.config.ts']
    const check = () => spawnSync(join(root, 'node_modules/.bin/tsc'), options, { cwd: folder, encoding: 'utf8' })
    expect(check()).toMatchObject({ status: 0, stdout: '' })
    const path = join(folder, 'assay.config.ts')
    writeFileSync(path, readFileSync(path, 'utf8').replace('target:', 'tagret:'))
    expect(check().stdout).toContain("'tagret' does not exist in type 'AssayConfig'")
  })

  test('may be a new folder elsewhere', async () => {
    const folder = temporaryFolder('parent')
    const { stdout } = await assay(['init', 'my nets', '--ci', 'none'], folder)
    expect(stdout).toContain("next: cd 'my nets' && npx assay run\n")
    expect(readdirSync(join(folder, 'my nets')).sort()).toEqual(['assay.config.ts', 'models'])
  })
})

/** Where another package would lie; the repository's own copy of one is put beside it. */
function lendPackage(folder: string, name: string, other = name): string {
  const place = join(folder, 'node_modules')
  mkdirSync(place, { recursive: true })
  if (!existsSync(join(place, name))) symlinkSync(join(root, 'node_modules', name), join(place, name))
  return join(place, other)
}

describe('assay init in a project', () => {
  test('never overwrites, unless told to', async () => {
    const config = '{ "seed": 3 }'
    const folder = project({
      'assay.config.json': config,
      '.github/workflows/assay.yml': 'mine',
      'a.onnx': affineModel(),
    })
    const refused = await assay(['init'], folder)
    expect([refused.code, refused.stderr]).toEqual([
      4,
      'assay: .github/workflows/assay.yml, assay.config.json exist already, so nothing was written; --force overwrites\n',
    ])
    expect(readFileSync(join(folder, '.github/workflows/assay.yml'), 'utf8')).toBe('mine')
    expect(existsSync(join(folder, 'assay.config.ts'))).toBe(false)
    const forced = await assay(['init', '--force'], folder)
    expect(forced.stdout).toContain('! assay.config.json is no longer read; the new configuration comes first')
    expect(readFileSync(join(folder, '.github/workflows/assay.yml'), 'utf8')).toMatch(/assay\S* run$/m)
    expect(readFileSync(join(folder, 'assay.config.json'), 'utf8')).toBe(config)
    expect((await assay(['list'], folder)).stdout).toBe('a/full_model@ort-web:wasm\n')
  })

  test('adds .assay to the .gitignore of a repository once', async () => {
    const folder = project({ '.gitignore': 'node_modules' })
    execFileSync('git', ['init', '-q'], { cwd: folder })
    for (let time = 0; time < 2; time++) await assay(['init', '--force'], folder)
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('node_modules\n.assay/\n')
  })

  test.each([
    [['--target', 'ort-wbe:wasm'], 'unknown runtime "ort-wbe" in target "ort-wbe:wasm"; did you mean "ort-web"?'],
    [['--target', 'chromium:webgup'], 'unknown device "webgup" in target "chromium:webgup"; did you mean "webgpu"?'],
    [['--target', 'ort:cpu,treads=2'], 'unknown key "treads" in target "ort:cpu,treads=2"; did you mean "threads"?'],
    [['--target', 'ort-web', '--target', 'ort-web:wasm'], 'target "ort-web:wasm" is given twice'],
    [['--ci', 'githb'], 'unknown --ci "githb"; did you mean "github"?'],
    [['--ci', 'jenkins'], 'unknown --ci "jenkins"; known: github, gitlab, none'],
    [['--models', 'net/*.onnx'], 'no "net" in '],
    [['--modles', 'nets'], "unknown option '--modles' (Did you mean --models?)"],
    [['nets/a.onnx'], 'is a file; give a folder'],
    [['nets/a.onnx/new'], 'is a file; give a folder'],
  ])('refuses %j in one line, before anything is written', async (args, message) => {
    const folder = project({ 'nets/a.onnx': affineModel() })
    const { code, stdout, stderr } = await assay(['init', ...args], folder)
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toMatch(/^assay: .*\n$/)
    expect(stderr).toContain(message)
    expect(readdirSync(folder).sort()).toEqual(['nets', 'node_modules'])
  })
})

/** On a terminal, without a browser to look for. */
function onTerminal(folder: string, answers: readonly string[], args: readonly string[] = []) {
  const python = [
    'test/workers/on-terminal.py',
    JSON.stringify(answers),
    process.execPath,
    main,
    'init',
    folder,
    ...args,
  ]
  const env = { ...process.env, CHROME_PATH: '/nowhere', CI: '', NO_COLOR: '1', TERM: 'xterm' }
  const { stdout, stderr } = spawnSync('python3', python, { cwd: root, env, encoding: 'utf8' })
  if (stderr) throw new Error(stderr)
  const { shown, code } = JSON.parse(stdout) as { shown: string; code: number }
  return { text: stripVTControlCharacters(shown).replaceAll('\r', ''), code }
}

describeWith('python', hasTerminals, 'assay init on a terminal', () => {
  test('asks, and asks again what it cannot read', () => {
    const folder = project({ 'assets/net.onnx': affineModel() })
    const { text, code } = onTerminal(folder, ['\r', 'ort-wbe\r', 'ort-web:wasm\r', 'gitlb\r', 'gitlab\r'])
    expect(code, text).toBe(0)
    expect(text).toContain('Where are your models? Files, folders or globs [assets/**/*.onnx] ')
    expect(text).toContain('  unknown runtime "ort-wbe" in target "ort-wbe"; did you mean "ort-web"?\n')
    expect(text).toContain('  unknown --ci "gitlb"; did you mean "gitlab"?\n')
    expect(readFileSync(join(folder, 'assay.config.ts'), 'utf8')).toContain("models: ['assets/**/*.onnx']")
    expect(existsSync(join(folder, '.gitlab-ci.yml'))).toBe(true)
  })

  test('asks only for what no flag has said', () => {
    const folder = project()
    const { text, code } = onTerminal(folder, ['none\r'], ['--models', 'nets', '--target', 'ort-web:wasm'])
    expect(code, text).toBe(0)
    expect(text).not.toContain('Where are your models?')
    expect(readdirSync(folder).sort()).toEqual(['assay.config.ts', 'nets', 'node_modules'])
    expect(onTerminal(project(), [], ['--yes']).text).not.toContain('?')
  })

  test.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('writes nothing after %s', (_name, key) => {
    const folder = project()
    const { text, code } = onTerminal(folder, [key])
    expect([code, text.trimEnd().split('\n').at(-1)]).toEqual([2, 'nothing was written'])
    expect(readdirSync(folder)).toEqual(['node_modules'])
  })

  test('refuses before the first question what no answer would help', () => {
    const { text, code } = onTerminal(project({ 'assay.config.ts': '' }), [])
    expect([code, text]).toEqual([
      4,
      'assay: assay.config.ts exists already, so nothing was written; --force overwrites\n',
    ])
  })
})
