import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createStyle } from '../../reporters/style.ts'
import { makeOwnFolder } from '../../runtimes/install/own-folder.ts'
import { folderWith } from '../testing/project.ts'
import { basePython } from './base-python.ts'
import { engineStates } from './engine-states.ts'
import { outcomeLines, stateLines } from './lines.ts'
import { type SetupRequest, setupPython } from './setup-python.ts'

const style = createStyle({ write: () => true, columns: 80 }, { env: { LANG: 'C.UTF-8' }, color: false })

/**
 * A program that answers as a Python would: its facts are in a file beside it, it makes environments that hold a copy
 * of itself, and what its pip says and how that ends is in a file too. Everything that it is asked goes into a log.
 */
const PROGRAM = `
const { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const isSafe = process.argv[2] === '-P'
const [kind, what, ...rest] = process.argv.slice(isSafe ? 3 : 2)
const here = join(__dirname, 'python.json')
const { log, pip = 0, broken = false, ...facts } = JSON.parse(readFileSync(here, 'utf8'))
if (log) appendFileSync(log, [...(isSafe ? ['-P'] : []), kind, kind === '-c' ? '' : what, ...rest].join(' ').trim() + '\\n')
if (kind === '-c' && rest.length === 0) { if (broken) { console.error('ImportError: no libGL'); process.exit(1) } }
else if (kind === '-c') console.log(JSON.stringify({ packages: {}, modules: {}, ...facts }))
else if (what === 'venv') cpSync(__dirname, join(rest[0], 'bin'), { recursive: true })
else if (pip !== 0) { console.error('ERROR: No matching distribution found'); process.exit(pip) }
else console.log('Collecting numpy\\nDownloading numpy-2.4.6.whl (16.6 MB)\\nnothing to tell')
`

function pythonWith(facts: object): string {
  const folder = folderWith({ 'python.cjs': PROGRAM, 'python.json': JSON.stringify(facts) })
  const path = join(folder, 'python3')
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' "\${0%/*}/python.cjs" "$@"\n`, { mode: 0o755 })
  return path
}

const MODULES = { venv: true, ensurepip: true }
const GOOD = { python: '3.12.1', modules: MODULES }

const OLD_RECORD = { schema: 'assay/python@1', python: '3.12.1', engines: { onnxruntime: ['onnxruntime==9'] } }

const told: string[] = []
const request = (cwd: string, base: string | undefined, more: Partial<SetupRequest> = {}): SetupRequest => ({
  cwd,
  environment: process.env,
  engines: ['onnxruntime'],
  base,
  signal: new AbortController().signal,
  progress: (step, detail) => told.push(detail === undefined ? step : `${step}: ${detail}`),
  ...more,
})

describe('a Python that no environment can be made from', () => {
  const refusal = (path: string) => basePython(path, folderWith(), process.env)

  test('is not there', async () => {
    await expect(refusal('./nowhere/python3')).rejects.toThrow(
      'there is no program "./nowhere/python3"; --python takes',
    )
  })

  test.each(['3.9.2', '3.15.0'])('is Python %s, which is too old or too new', async (python) => {
    await expect(refusal(pythonWith({ ...GOOD, python }))).rejects.toThrow(
      new RegExp(`is Python ${python}; .* published for 3\\.11 to 3\\.14`),
    )
  })

  test('lacks ensurepip, as on a plain Debian', async () => {
    const python = pythonWith({ ...GOOD, modules: { venv: true, ensurepip: false } })
    await expect(refusal(python)).rejects.toThrow('run: apt install python3-venv')
  })

  test('does not answer as one', async () => {
    await expect(refusal('/bin/echo')).rejects.toThrow('expected an answer in JSON')
  })
})

describe('an environment', () => {
  test('is made, filled, tried and written down; asked for again it is already there', async () => {
    const cwd = folderWith()
    const log = join(cwd, 'log')
    told.length = 0
    const outcome = await setupPython(request(cwd, pythonWith({ ...GOOD, log })))
    expect(outcome).toMatchObject({ python: '3.12.1', baseIgnored: false })
    expect(outcome.engines.map(({ name, isNew }) => [name, isNew])).toEqual([['onnxruntime', true]])
    expect(told).toEqual([
      'making a Python 3.12.1 environment in .assay/python',
      'installing onnxruntime',
      'installing onnxruntime: collecting numpy',
      'installing onnxruntime: downloading numpy-2.4.6.whl (16.6 MB)',
      'trying onnxruntime',
    ])
    expect(readFileSync(log, 'utf8')).toMatch(
      /\n-P -m venv .*\n-P -m pip install --disable-pip-version-check --no-input --progress-bar off onnxruntime==[\d.]+ numpy==[\d.]+\n-P -c\n$/,
    )
    const record = JSON.parse(readFileSync(join(cwd, '.assay/python/assay.json'), 'utf8'))
    expect(record).toMatchObject({
      schema: 'assay/python@1',
      python: '3.12.1',
      engines: { onnxruntime: expect.any(Array) },
    })
    const again = await setupPython(request(cwd, 'another'))
    expect([again.baseIgnored, again.engines[0]!.isNew, told.length]).toEqual([true, false, 5])
    expect(outcomeLines(again, style, cwd).join('\n')).toContain('already here: onnxruntime')
    expect(outcomeLines(again, style, cwd).join('\n')).toContain('so --python did not count')
    expect(outcomeLines(outcome, style, cwd).at(-1)).toBe('next: assay test --target onnxruntime')
  })

  test('is not taken for good where pip failed; what was there before still is', async () => {
    const cwd = folderWith()
    const failing = setupPython(request(cwd, pythonWith({ ...GOOD, pip: 1 })))
    await expect(failing).rejects.toMatchObject({
      message: 'cannot install onnxruntime; the end of what pip said is above',
      cause: 'ERROR: No matching distribution found',
    })
    const record = join(cwd, '.assay/python/assay.json')
    expect(existsSync(record)).toBe(false)
    const before = { schema: 'assay/python@1', python: '3.12.1', engines: { torch: ['torch==0.1'] } }
    writeFileSync(record, JSON.stringify(before))
    await expect(setupPython(request(cwd, undefined))).rejects.toThrow('cannot install onnxruntime')
    expect(JSON.parse(readFileSync(record, 'utf8'))).toEqual(before)
  })

  test('whose engine cannot be loaded is not taken for good', async () => {
    const cwd = folderWith()
    await expect(setupPython(request(cwd, pythonWith({ ...GOOD, broken: true })))).rejects.toMatchObject({
      message: expect.stringMatching(/^onnxruntime was installed but cannot be loaded here/),
      cause: 'ImportError: no libGL',
    })
    expect(existsSync(join(cwd, '.assay/python/assay.json'))).toBe(false)
  })

  test('that lost its interpreter is made anew', async () => {
    const cwd = folderWith()
    await makeOwnFolder(join(cwd, '.assay/python'), process.env)
    writeFileSync(join(cwd, '.assay/python/assay.json'), JSON.stringify(OLD_RECORD))
    told.length = 0
    await setupPython(request(cwd, pythonWith(GOOD)))
    expect(told[0]).toBe('making a Python 3.12.1 environment in .assay/python')
  })

  test('that came with the project is neither started nor touched; another one is made beside it', async () => {
    const files = { '.assay/python/assay.json': JSON.stringify(OLD_RECORD), '.assay/python/bin/python3': '' }
    const cwd = folderWith(files)
    const log = join(cwd, 'started')
    writeFileSync(join(cwd, '.assay/python/bin/python3'), `#!/bin/sh\ntouch '${log}'\n`, { mode: 0o755 })
    chmodSync(join(cwd, '.assay/python/bin/python3'), 0o755)
    told.length = 0
    const { home } = await setupPython(request(cwd, pythonWith(GOOD)))
    expect(home).toMatch(/\.assay\/python-[0-9a-f]{8}$/)
    expect(told[0]).toBe(`making a Python 3.12.1 environment in ${relative(cwd, home)}`)
    expect((await engineStates(undefined, cwd, process.env)).python?.path).toBe(join(home, 'bin/python3'))
    expect([existsSync(log), existsSync(join(cwd, '.assay/python/assay.json'))]).toEqual([false, true])
  })

  test('is not begun for an engine that there is not', async () => {
    const cwd = folderWith()
    await expect(setupPython(request(cwd, undefined, { engines: ['openvnio'] }))).rejects.toThrow(
      'unknown engine "openvnio" of Python; did you mean "openvino"?',
    )
    expect(existsSync(join(cwd, '.assay'))).toBe(false)
  })

  test('is not made where the signal came first', async () => {
    const aborted = { signal: AbortSignal.abort(new Error('interrupted')) }
    await expect(setupPython(request(folderWith(), pythonWith(GOOD), aborted))).rejects.toThrow('interrupted')
  })
})

describe('the state of engines', () => {
  test('where nothing is set up is every engine with its pins, and how to install one', async () => {
    const states = await engineStates(undefined, folderWith(), process.env)
    expect(states.python).toBeNull()
    const lines = stateLines(states, style, '/')
    expect(lines[0]).toBe('no Python is set up here')
    expect(lines[2]).toMatch(/^○ onnxruntime {5}onnxruntime \d[\d.]* · numpy \d/)
    expect(lines.at(-1)).toBe('install with: assay setup python onnxruntime')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  })

  test('of a Python that somebody names is what can be imported there', async () => {
    const packages = { onnxruntime: '1.19.0', numpy: '2.4.6+cpu' }
    const path = pythonWith({ ...GOOD, packages, modules: { onnxruntime: true } })
    const states = await engineStates(path, folderWith(), process.env)
    expect(states.python).toEqual({ path, version: '3.12.1' })
    expect(states.engines.map(({ name, isHere }) => `${name} ${isHere}`).slice(0, 2)).toEqual([
      'onnxruntime true',
      'onnx-reference false',
    ])
    expect(stateLines(states, style, '/')[2]).toMatch(
      /^✓ onnxruntime {5}onnxruntime 1\.19\.0 \(tested with [\d.]+\) · numpy 2\.4\.6\+cpu$/,
    )
  })

  test('of one that is not there, or does not work, is refused', async () => {
    await expect(engineStates('./nowhere', folderWith(), process.env)).rejects.toThrow(
      'there is no program "./nowhere"',
    )
    await expect(engineStates('/bin/echo', folderWith(), process.env)).rejects.toThrow('/bin/echo does not work: ')
  })
})
