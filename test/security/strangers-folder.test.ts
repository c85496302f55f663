import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeOwnFolder } from '../../src/runtimes/install/own-folder.ts'
import { identity } from '../conformance/models.ts'
import { assay, assayJson, ended, project, root, startAssay, temporaryFolder } from '../support/assay.ts'
import { testWith } from '../support/needs.ts'
import { hasPython } from '../support/python.ts'

const PINNED = ['onnxruntime-node@1.30.0', 'onnxruntime-web@1.30.0']

/** A folder full of programs that leave a trace, in the places where a project has its own. */
function strangersFolder(): { folder: string; trace: string } {
  const trace = join(temporaryFolder('trace'), 'ran')
  const code = `require('node:fs').writeFileSync(${JSON.stringify(trace)}, __filename)\n`
  const folder = project({
    'model.onnx': identity('float32'),
    'assay.config.mjs': `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(trace)}, 'config')\nexport default {}\n`,
  })
  rmSync(join(folder, 'node_modules'))
  for (const home of ['node_modules', ...PINNED.map((name) => `.assay/runtimes/${name}/node_modules`)]) {
    for (const name of PINNED.map((each) => each.split('@')[0]!)) {
      const place = join(folder, home, name)
      mkdirSync(place, { recursive: true })
      writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version: '1.30.0', main: 'index.js' }))
      writeFileSync(join(place, 'index.js'), code)
    }
  }
  return { folder, trace }
}

/** As an earlier run would have installed them. */
async function installRuntimes(folder: string): Promise<void> {
  const home = await makeOwnFolder(join(folder, '.assay/runtimes'), process.env)
  for (const name of PINNED) {
    mkdirSync(join(home, name))
    symlinkSync(join(root, 'node_modules'), join(home, name, 'node_modules'))
  }
}

describe('with --no-config', () => {
  test.each([
    ['--no-config', [], {}],
    ['ASSAY_NO_CONFIG', [], { ASSAY_NO_CONFIG: '1' }],
  ])('%s: nothing of the folder is run, and the command that judges again says so', async (how, _none, env) => {
    const { folder, trace } = strangersFolder()
    await installRuntimes(folder)
    const flags = how.startsWith('--') ? [how] : []
    const report = await assayJson(['test', 'model.onnx', ...flags], folder, env)
    expect([report.code, report.results.map(({ verdict }) => verdict)], report.stderr).toEqual([0, ['pass']])
    expect(report.results[0]!.reproduce).toMatch(/^assay test model\.onnx .*--no-config /)
    expect(report.stderr).toMatch(/\.assay\/runtimes was not made by you on this machine, so nothing in it is run/)
    expect(existsSync(trace)).toBe(false)
  })

  test.each([
    [['list', 'model.onnx'], 0],
    [['config'], 0],
    [['boards'], 5],
    [['converge', '--dry-run'], 4],
    [['decoders', 'test', '.', '--list'], null],
    [['run'], 4],
  ])('%j loads no configuration', async (args, code) => {
    const { folder, trace } = strangersFolder()
    const ran = await assay([...args, '--no-config'], folder)
    expect(existsSync(trace)).toBe(false)
    if (code !== null) expect(ran, ran.stderr).toMatchObject({ code })
    expect(ran.stderr).not.toContain('unknown option')
  })

  test('doctor looks at nothing of the folder', async () => {
    const { folder, trace } = strangersFolder()
    await installRuntimes(folder)
    const { stdout } = await assay(['doctor', '--no-config'], folder, { PATH: '/nowhere' })
    expect(stdout).toContain('none is loaded, as --no-config says')
    expect(existsSync(trace)).toBe(false)
  })

  test.each([
    [['--config', 'assay.config.mjs', '--no-config'], {}, '--no-config'],
    [['--config', 'assay.config.mjs'], { ASSAY_NO_CONFIG: 'yes' }, 'ASSAY_NO_CONFIG'],
  ])('a configuration that is named is refused: %j', async (flags, env, how) => {
    const { folder, trace } = strangersFolder()
    const { code, stderr } = await assay(['config', ...flags], folder, env)
    expect([code, stderr]).toEqual([
      4,
      `assay: --config assay.config.mjs names a configuration and ${how} forbids any; leave one of them out\n`,
    ])
    expect(existsSync(trace)).toBe(false)
  })
})

test('a Python that came with a folder is not started', async () => {
  const trace = join(temporaryFolder('trace'), 'ran')
  const record = { schema: 'assay/python@1', python: '3.12.1', engines: { onnxruntime: ['onnxruntime==1.30.0'] } }
  const python = `#!/bin/sh\ntouch '${trace}'\n`
  const folder = project({
    'model.onnx': identity('float32'),
    '.assay/python/assay.json': JSON.stringify(record),
    '.assay/python/bin/python3': python,
  })
  chmodSync(join(folder, '.assay/python/bin/python3'), 0o755)
  const { code, results } = await assayJson(['test', 'model.onnx', '--target', 'onnxruntime:cpu'], folder)
  expect([code, results[0]!.error!.message]).toEqual([
    1,
    expect.stringContaining(
      'the Python environment in .assay/python was not made by you on this machine, so it is not run; run: assay setup python onnxruntime',
    ),
  ])
  await assay(['setup', 'python', '--list'], folder)
  expect(existsSync(trace)).toBe(false)
})

testWith('python', hasPython, 'no Python imports a file of the current folder', async () => {
  const trace = join(temporaryFolder('trace'), 'imported')
  const module = `open(${JSON.stringify(trace)}, 'a').write(__name__)\nraise ImportError('of the folder')\n`
  const folder = project(Object.fromEntries(['json', 'importlib', 'venv', 'pip'].map((name) => [`${name}.py`, module])))
  const listed = await ended(startAssay(['setup', 'python', '--list'], folder, { ASSAY_PYTHON: 'python3' }))
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Python 3\.\d+/) })
  expect(existsSync(trace)).toBe(false)
})
