import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Diagnosis } from '../../src/library/doctor/diagnose.ts'
import { findProgram } from '../../src/runtimes/process/find-program.ts'
import { assay, project, temporaryFolder } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

/** npm and nothing else, so that no browser is started. */
const bin = temporaryFolder('bin')
symlinkSync(findProgram('npm', process.env.PATH!)!, join(bin, 'npm'))
const NO_BROWSER = { PATH: bin, CHROME_PATH: '', ASSAY_SCOPE: '' }

const doctor = (folder: string, env = {}, args: readonly string[] = []) =>
  assay(['doctor', ...args], folder, { ...NO_BROWSER, ...env })

async function diagnosis(folder: string, env = {}): Promise<Diagnosis & { code: number | null }> {
  const { code, stdout } = await doctor(folder, env, ['--json'])
  return { ...(JSON.parse(stdout) as Diagnosis), code }
}

const findingOf = ({ findings }: Diagnosis, name: string) => findings.find((finding) => finding.name === name)

describe('assay doctor', () => {
  test('tells what runs here, from where, and that a run would work', async () => {
    const { code, stdout, stderr } = await doctor(project({ 'models/a.onnx': affineModel() }))
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^✓ node {9}v\d+\.\d+\.\d+; Assay \d+\.\d+\.\d+ needs 20\.19 or newer$/m)
    expect(stdout).toMatch(/^✓ models {7}1 in models\/\*\*\/\*\.onnx$/m)
    expect(stdout).toMatch(/^✓ ort:cpu {15}onnxruntime-node \d+\.\d+\.\d+ · devices: cpu.*$/m)
    expect(stdout).toMatch(/^✓ ort-web:wasm {10}onnxruntime-web \d+\.\d+\.\d+ · in node_modules\/onnxruntime-web$/m)
    expect(stdout).toMatch(/give it as\s+command:\.\/runner/)
    expect(stdout).toMatch(/^✓ reference {13}ort:cpu \(onnxruntime-node \d/m)
    expect(stdout).toMatch(/^ready to run; nothing to look at\n$/m)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  test('in an empty folder names what the first run installs, and writes nothing', async () => {
    const folder = temporaryFolder('empty')
    const { code, stdout } = await doctor(folder)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^○ ort:cpu {15}the first run installs onnxruntime-node \d+\.\d+\.\d+, once$/m)
    expect(stdout).toContain('ready to run; 1 thing to look at: ! models')
    expect(readdirSync(folder)).toEqual([])
  })

  test('without npm cannot promise that', async () => {
    const { code, stdout } = await doctor(temporaryFolder('empty'), { PATH: temporaryFolder('nothing') })
    expect(code).toBe(1)
    expect(stdout).toContain('not ready to run; 2 things to look at: ! npm, ! models')
  })

  test('says of a broken configuration and a mistyped variable what is wrong, together', async () => {
    const folder = project({ 'assay.config.json': '{ "tragets": {} }' })
    const { code, stdout } = await doctor(folder, { ASSAY_TAGRET: 'x' })
    expect(code).toBe(1)
    expect(stdout).toMatch(/✗ environment {2}unknown variable ASSAY_TAGRET .*; did you mean\n +"ASSAY_TARGET"/)
    expect(stdout).toMatch(/✗ config {7}unknown key "tragets" in assay\.config\.json; did you mean\n +"targets"\?/)
    expect(stdout).toContain('not ready to run; 2 things to look at: ✗ environment, ✗ config')
  })

  test("tries the configuration's own targets", async () => {
    const target = ['ort:cpu,threads=2', 'command:./nothing', 'recorded:./nowhere', 'ort@1.19.2:cpu', 'browser:wasm']
    const { code, sides } = await diagnosis(project({ 'assay.config.json': JSON.stringify({ target }) }))
    expect(code).toBe(1)
    expect(sides.reference.map((side) => [side.target, side.state])).toEqual([['ort:cpu', 'ready']])
    expect(sides.targets.map((side) => [side.target, side.state])).toEqual([
      ['ort:cpu,threads=2', 'ready'],
      ['command:./nothing', 'unavailable'],
      ['recorded:./nowhere', 'unavailable'],
      ['ort@1.19.2:cpu', 'first-use'],
      ['browser:wasm', 'untried'],
    ])
  })

  test('tells how the last run ended and what is kept', async () => {
    const folder = project({ 'models/a.onnx': affineModel() })
    expect((await assay(['test', '--target', 'ort:cpu,threads=2'], folder)).code).toBe(0)
    const after = await diagnosis(folder)
    expect(findingOf(after, 'last run')).toMatchObject({
      health: 'good',
      text: expect.stringMatching(/ s ago: 1 pass$/),
    })
    expect(findingOf(after, 'kept')!.text).toMatch(/^cache [\d.]+ KiB · runs [\d.]+ KiB · runtimes none$/)
    mkdirSync(join(folder, '.assay/runs/7ZZZZZZZZZZZZZZZZZZZZZZZZZ'))
    expect(findingOf(await diagnosis(folder), 'last run')).toMatchObject({ health: 'look' })
  })

  test('never prints secrets', async () => {
    const config = { target: ['command:./nothing,arg=--token=hunter2'] }
    const env = { NPM_TOKEN: 'hunter2', npm_config__authToken: 'hunter2', ASSAY_VERSION: 'hunter2' }
    const folder = project({ 'assay.config.json': JSON.stringify(config), '.npmrc': '_authToken=hunter2' })
    for (const args of [[], ['--json']]) {
      const { stdout, stderr } = await doctor(folder, env, args)
      expect(stdout + stderr).not.toContain('hunter2')
    }
  })
})
