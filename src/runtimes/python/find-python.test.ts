import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { makeOwnFolder } from '../install/own-folder.ts'
import { engineNamed, listPins, PYTHON_ENGINES } from './engines.ts'
import { findPython } from './find-python.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay find python '))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const context = {
  environment: process.env,
  projectFolder: folder,
  runtimesFolder: join(folder, '.assay/runtimes'),
  notice: () => {},
}

function writeInterpreter(path: string): string {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), '')
  chmodSync(join(folder, path), 0o755)
  return join(folder, path)
}

describe('the Python of an engine', () => {
  test('is the one that was set up, for the engines whose installation ended', async () => {
    await makeOwnFolder(join(folder, '.assay/python'), process.env)
    const path = writeInterpreter('.assay/python/bin/python3')
    const remedy = 'run: assay setup python iree'
    expect(findPython('iree', context)).toMatchObject({
      path: null,
      remedy,
      reason: expect.stringContaining('not set up here'),
    })
    const record = { schema: 'assay/python@1', python: '3.12.1', engines: { iree: [] } }
    writeFileSync(join(folder, '.assay/python/assay.json'), JSON.stringify(record))
    expect(findPython('iree', context)).toEqual({ path, remedy })
    expect(findPython('torch', context)).toMatchObject({
      path: null,
      reason: 'torch is not installed in .assay/python',
    })
  })

  test('is not one that came with the project', () => {
    const strange = join(folder, 'strange')
    const path = writeInterpreter('strange/.assay/python/bin/python3')
    const record = { schema: 'assay/python@1', python: '3.12.1', engines: { iree: [] } }
    writeFileSync(join(path, '../../assay.json'), JSON.stringify(record))
    const found = findPython('iree', { ...context, runtimesFolder: join(strange, '.assay/runtimes') })
    expect(found).toEqual({
      path: null,
      reason: 'the Python environment in .assay/python was not made by you on this machine, so it is not run',
      remedy: 'run: assay setup python iree',
    })
  })

  test('is the one that somebody named, whatever was set up', () => {
    const path = writeInterpreter('my venv/python')
    const found = findPython('onnxruntime', { ...context, python: './my venv/python' })
    expect(found).toMatchObject({
      path,
      remedy: expect.stringContaining("run: './my venv/python' -m pip install onnxruntime=="),
    })
    expect(findPython('onnxruntime', { ...context, python: 'no-such-python' })).toMatchObject({ path: null })
  })
})

test('every package of every engine has one pinned version', () => {
  for (const { name } of PYTHON_ENGINES) {
    for (const pin of listPins(engineNamed(name))) expect(pin).toMatch(/^[a-z-]+==\d+(\.\d+)+$/)
  }
})
