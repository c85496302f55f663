import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PYTHON_ENGINES } from '../../src/runtimes/python/engines.ts'
import { assay, ended, project, startAssay, temporaryFolder } from '../support/assay.ts'
import { describeWith } from '../support/needs.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'
import { affineModel } from '../support/small-models.ts'

const setup = (args: readonly string[], folder: string, env: Record<string, string> = {}) =>
  assay(['setup', ...args], folder, env)

const BASE = ['--python', TEST_PYTHON ?? 'python3']

/** An index that is not there; what pip is configured with on this machine does not count. */
const OFFLINE = {
  PIP_CONFIG_FILE: '/dev/null',
  PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
  PIP_RETRIES: '0',
  PIP_NO_CACHE_DIR: '1',
}

/** A program that answers as a Python would. */
function pythonThatSays(facts: object): string {
  const path = join(temporaryFolder('said'), 'python3')
  writeFileSync(path, `#!/bin/sh\necho '${JSON.stringify({ packages: {}, ...facts })}'\n`)
  chmodSync(path, 0o755)
  return path
}

describe('assay setup', () => {
  test.each([
    [[], 'assay: missing subcommand: use assay setup python, or assay setup python --list\n'],
    [['pyhton'], 'assay: unknown "pyhton" of assay setup; did you mean "python"?\n'],
    [['python', 'openvnio'], 'assay: unknown engine "openvnio" of Python; did you mean "openvino"?\n'],
    [['python', 'jax\u001b[31m'], /^assay: unknown engine "jax.*" of Python; known: iree, onnx-reference, /],
  ])('refuses %j', async (args, message) => {
    const folder = temporaryFolder('empty')
    const { code, stdout, stderr } = await setup(args, folder)
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('\u001b')
    expect(existsSync(join(folder, '.assay'))).toBe(false)
  })

  test('--list tells every engine with its pins, and installs nothing', async () => {
    const folder = temporaryFolder('empty')
    const { code, stdout } = await setup(['python', '--list'], folder)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^no Python is set up here\n\n○ onnxruntime {5}onnxruntime 1\.30\.0 · numpy \d/)
    for (const { name } of PYTHON_ENGINES) expect(stdout).toMatch(new RegExp(`^○ ${name} +\\S+ \\d`, 'm'))
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(existsSync(join(folder, '.assay'))).toBe(false)
  })
})

describe('a Python that no environment can be made from', () => {
  const refusal = async (python: string, env: Record<string, string> = {}) => {
    const folder = temporaryFolder('empty')
    const { code, stderr } = await setup(['python', 'onnxruntime', '--python', python], folder, env)
    expect(code).toBe(4)
    expect(existsSync(join(folder, '.assay/python'))).toBe(false)
    return stderr
  }

  test('is not there', async () => {
    expect(await refusal('./nowhere/python3')).toContain('there is no program "./nowhere/python3"; --python takes')
    const ran = await setup(['python', 'onnxruntime'], temporaryFolder('empty'), { PATH: temporaryFolder('nothing') })
    expect([ran.code, ran.stderr]).toEqual([
      4,
      expect.stringContaining('there is no python3 in PATH; install Python 3.11'),
    ])
  })

  test('is too old or too new', async () => {
    const modules = { venv: true, ensurepip: true }
    expect(await refusal(pythonThatSays({ python: '3.9.2', modules }))).toMatch(
      /is Python 3\.9\.2; .* for 3\.11 to 3\.14/,
    )
    expect(await refusal(pythonThatSays({ python: '3.15.0', modules }))).toContain('is Python 3.15.0;')
  })

  test('lacks ensurepip, as on a plain Debian', async () => {
    const modules = { venv: true, ensurepip: false }
    expect(await refusal(pythonThatSays({ python: '3.12.1', modules }))).toContain('run: apt install python3-venv')
  })

  test('does not work', async () => {
    expect(await refusal('/bin/false')).toContain('/bin/false does not work: ')
    expect(await refusal('/bin/echo')).toContain('expected an answer in JSON')
  })
})

/** Of 3.11 or newer, with all that makes environments. */
describeWithPython('an installation that fails', 'tomllib, ensurepip', () => {
  test('shows what pip said, and leaves nothing that a run would take for good', async () => {
    const folder = project({ 'm.onnx': affineModel() })
    const { code, stderr } = await setup(['python', 'onnxruntime', ...BASE], folder, OFFLINE)
    expect(code).toBe(4)
    expect(stderr).toMatch(/^making a Python 3\.\d+\.\d+ environment in \.assay\/python …\ninstalling onnxruntime …\n/)
    expect(stderr).toMatch(/ {2}ERROR: No matching distribution found for onnxruntime==1\.30\.0/)
    expect(stderr).toMatch(/\nassay: cannot install onnxruntime; the end of what pip said is above\n$/)
    expect((await setup(['python', '--list'], folder)).stdout).toMatch(/^○ onnxruntime /m)
    const { stdout } = await assay(['test', 'm.onnx', '--target', 'onnxruntime'], folder)
    expect(stdout).toContain('is not set up here; run: assay setup python onnxruntime')
  })

  test('keeps what was there before', async () => {
    const folder = project()
    expect((await setup(['python', 'openvino', ...BASE], folder, OFFLINE)).code).toBe(4)
    const record = join(folder, '.assay/python/assay.json')
    const before = JSON.stringify({ schema: 'assay/python@1', python: '3.11.7', engines: { torch: ['torch==0.1'] } })
    writeFileSync(record, before)
    expect((await setup(['python', 'openvino', ...BASE], folder, OFFLINE)).code).toBe(4)
    expect(JSON.parse(readFileSync(record, 'utf8'))).toEqual(JSON.parse(before))
  })

  test('interrupted, ends pip and says so', async () => {
    const folder = project()
    const child = startAssay(['setup', 'python', 'onnxruntime', ...BASE], folder, { ...OFFLINE, PIP_RETRIES: '9' })
    child.stderr.on('data', (text) => /installing/.test(String(text)) && child.kill('SIGINT'))
    const { code, stdout, stderr } = await ended(child)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(
      'interrupted: the unfinished environment is not used; the next assay setup python starts over\n',
    )
    expect(existsSync(join(folder, '.assay/python/assay.json'))).toBe(false)
    expect(existsSync(join(folder, '.assay/python.lock'))).toBe(false)
  })

  test('killed in the middle, is begun anew', async () => {
    const folder = project()
    const child = startAssay(['setup', 'python', 'onnxruntime', ...BASE], folder, { ...OFFLINE, PIP_RETRIES: '9' })
    child.stderr.on('data', (text) => /installing/.test(String(text)) && child.kill('SIGKILL'))
    expect((await ended(child)).signal).toBe('SIGKILL')
    expect(existsSync(join(folder, '.assay/python/bin/python3'))).toBe(true)
    const { code, stderr } = await setup(['python', 'onnxruntime', ...BASE], folder, OFFLINE)
    expect(code).toBe(4)
    expect(stderr).toContain('making a Python')
  })
})

describeWith('engines', TEST_PYTHON !== undefined, 'an installation that succeeds', () => {
  test('gives an engine that runs, once', { timeout: 300_000 }, async () => {
    const folder = project({ 'm.onnx': affineModel() })
    const first = await setup(['python', 'onnxruntime'], folder)
    expect(first.code, first.stderr).toBe(0)
    expect(first.stdout).toMatch(/^✓ onnxruntime {5}onnxruntime 1\.30\.0 · numpy \d/)
    expect(first.stdout).toContain('next: assay test --target onnxruntime')
    const ran = await assay(['test', 'm.onnx', '--target', 'onnxruntime'], folder)
    expect(ran.code, ran.stdout).toBe(0)
    const again = await setup(['python', 'onnxruntime', '--python', 'python3'], folder, OFFLINE)
    expect([again.code, again.stderr]).toEqual([0, ''])
    expect(again.stdout).toMatch(/^✓ onnxruntime {5}already here: /)
    expect(again.stdout).toContain('--python did not count')
    expect((await setup(['python', '--list'], folder)).stdout).toMatch(/^✓ onnxruntime .*\n○ onnx-reference /m)
    // A link that leads nowhere, as after the Python that it was made from is gone.
    const python = join(folder, '.assay/python/bin/python3')
    rmSync(python)
    symlinkSync(join(folder, 'gone'), python)
    const broken = await assay(['test', 'm.onnx', '--target', 'onnxruntime', '--recompute'], folder)
    expect(broken.stdout).toContain('run: assay setup python onnxruntime')
    expect((await setup(['python', 'onnxruntime'], folder, OFFLINE)).stderr).toContain('making a Python')
  })
})
