import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { locateCheckpoint, storedCheckpoint } from '../config/checkpoint-path.ts'
import type { Sidecar } from '../config/contract.ts'
import { checkpointSum } from './checkpoint-sum.ts'
import { CheckpointSums } from './checkpoint-sums.ts'
import { readManifest, writeManifest } from './manifest.ts'
import { readSidecar, writeSidecar } from './sidecar.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay storage '))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const at = (...names: string[]) => join(folder, ...names)
const put = (name: string, content: string) => {
  mkdirSync(join(at(name), '..'), { recursive: true })
  writeFileSync(at(name), content)
  return at(name)
}

/** As the document shows it. */
const DOCUMENTED = {
  ckpt_logs: {
    '0': {
      checkpoint: 'ckpts/20-04-11-14-23-13/model_0.onnx',
      start_step: 0,
      results: { '0': { loss: { MLM: '9.742', NSP: '0.718' } }, '1': { loss: { MLM: '7.984', NSP: '0.704' } } },
    },
    '4': {
      checkpoint: 'ckpts/20-04-11-14-23-13/model_4:5.onnx',
      start_step: 4,
      results: { '5': { loss: { MLM: '5.840', NSP: '0.625' } } },
    },
  },
}

describe('a manifest', () => {
  test('of the documented form is read and written again byte for byte', async () => {
    const text = `${JSON.stringify(DOCUMENTED, null, 4)}\n`
    const path = put('demo_manifest.json', text)
    const manifest = await readManifest(path)
    expect(manifest.map(({ startStep, results }) => [startStep, [...results.keys()]])).toEqual([
      [0, [0, 1]],
      [4, [5]],
    ])
    expect(manifest[1]!.results.get(5)).toEqual({ loss: { MLM: '5.840', NSP: '0.625' } })
    await writeManifest(path, manifest)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('may have padded steps, metrics that are null, and numbers for texts', async () => {
    const results = { '0010': { loss: null, accuracy: { '0': 0.5 } }, '9': { loss: { '0': '1' } } }
    const path = put('m.json', JSON.stringify({ ckpt_logs: { '08': { checkpoint: 'a', start_step: 8, results } } }))
    const [entry] = await readManifest(path)
    expect([...entry!.results]).toEqual([
      [9, { loss: { '0': '1' } }],
      [10, { accuracy: { '0': '0.5' } }],
    ])
  })

  test.each([
    ['[]', 'its content should be an object'],
    ['{"ckpt_logs": []}', 'ckpt_logs should be an object'],
    ['{"ckpt_logs": {"x": {}}}', 'ckpt_logs.x should be a step number'],
    ['{"ckpt_logs": {"-1": {}}}', 'ckpt_logs.-1 should be a step number'],
    ['{"ckpt_logs": {"1": {"start_step": 2, "checkpoint": "a", "results": {}}}}', 'ckpt_logs.1 has start_step 2'],
    ['{"ckpt_logs": {"1": {"start_step": 1, "checkpoint": 7, "results": {}}}}', 'checkpoint should be text'],
    [
      '{"ckpt_logs": {"1": {"start_step": 1, "checkpoint": "a", "results": {"1": {"loss": "2"}}}}}',
      'loss should be an object',
    ],
    [
      '{"ckpt_logs": {"1": {"start_step": 1, "checkpoint": "a", "results": {"1": {"loss": {"a": []}}}}}}',
      'the logged value',
    ],
    ['{"ckpt_logs": {"1": {}, "1": {}}}', 'twice'],
    ['{"ckpt_logs": ', 'is not JSON'],
  ])('%s is refused by its place', async (text, message) => {
    await expect(readManifest(put('m.json', text))).rejects.toThrow(message)
  })

  test('with one step under two spellings in a recording is refused', async () => {
    const results = { '5': { loss: { '0': '1' } }, '05': { loss: { '0': '2' } } }
    const path = put('m.json', JSON.stringify({ ckpt_logs: { '4': { checkpoint: 'a', start_step: 4, results } } }))
    await expect(readManifest(path)).rejects.toThrow('results should be steps without duplicates')
  })

  test('with one step under two spellings is refused', async () => {
    const entry = { checkpoint: 'a', start_step: 1, results: {} }
    const path = put('m.json', JSON.stringify({ ckpt_logs: { '1': entry, '01': entry } }))
    await expect(readManifest(path)).rejects.toThrow('step 1 twice')
  })
})

test('what a manifest has no place for survives being written', async () => {
  const sidecar: Sidecar = {
    test: 'demo',
    complete: false,
    configDigest: 'abc',
    gatheredAt: '2026-11-16T00:00:00.000Z',
    environment: { node: 'v20' },
    git: { commit: 'f00', isDirty: true },
    argv: ['node', 'a b'],
    checkpoints: {
      '4': {
        complete: true,
        bytes: 3,
        sha256: 'x',
        warnings: ['twice'],
        samples: [{ seed: 2, results: new Map([[5, { loss: { '0': '1e-05' } }]]) }],
      },
    },
    earlier: [{ at: '2026-11-15T00:00:00.000Z', startSteps: [0], git: null }],
    renewals: [{ at: '2026-11-17T00:00:00.000Z', startSteps: [4], git: { commit: 'f01', isDirty: false } }],
    resumeAt: 'next_step',
  }
  await writeSidecar(at('m.assay.json'), sidecar)
  expect(await readSidecar(at('m.assay.json'))).toEqual(sidecar)
  await writeSidecar(at('m.assay.json'), { ...sidecar, git: null })
  expect((await readSidecar(at('m.assay.json'))).git).toBeNull()
  const older = JSON.parse(readFileSync(at('m.assay.json'), 'utf8'))
  put('strange.json', JSON.stringify({ ...older, resumeAt: 'soon' }))
  await expect(readSidecar(at('strange.json'))).rejects.toThrow('resumeAt is "soon", expected "next_step"')
  delete older.resumeAt
  delete older.renewals[0].git
  delete older.earlier
  writeFileSync(at('m.assay.json'), JSON.stringify(older))
  const read = await readSidecar(at('m.assay.json'))
  expect([read.earlier, read.renewals]).toEqual([[], [{ ...sidecar.renewals[0], git: null }]])
  writeFileSync(at('m.assay.json'), '{"schema": "assay/run@1"}')
  await expect(readSidecar(at('m.assay.json'))).rejects.toThrow('has the schema "assay/run@1"')
})

describe('the checkpoint of a manifest', () => {
  const manifest = () => at('m.json')

  test('is relative to the manifest, or to its ckpts', async () => {
    put('ckpts/a', '1')
    expect(await locateCheckpoint(manifest(), 'ckpts/a')).toBe(at('ckpts/a'))
    expect(await locateCheckpoint(manifest(), 'a')).toBe(at('ckpts/a'))
  })

  test('that is not there is named with the places', async () => {
    await expect(locateCheckpoint(manifest(), 'b')).rejects.toThrow('looked for b and ckpts/b')
  })

  test.each(['../../x', '../x', '/etc/passwd', '..', '.'])('is not %s, whether or not it is there', async (written) => {
    await expect(locateCheckpoint(manifest(), written)).rejects.toThrow('lies outside of the storage')
  })

  test('is not a link that leads outside', async () => {
    symlinkSync(tmpdir(), at('out'))
    await expect(locateCheckpoint(manifest(), 'out')).rejects.toThrow('lies outside')
  })
})

describe('what a program says that it saved', () => {
  test('is named relative to the manifest', async () => {
    put('ckpts/run/a.bin', '1')
    const manifest = at('m.json')
    for (const printed of [at('ckpts/run/a.bin'), ' ckpts/run/a.bin ', './ckpts/../ckpts/run/a.bin']) {
      expect(await storedCheckpoint(manifest, printed, folder)).toMatchObject({ written: 'ckpts/run/a.bin' })
    }
  })

  test('must be there and inside of the storage', async () => {
    await expect(storedCheckpoint(at('m.json'), 'b', folder)).rejects.toThrow('which is not there')
    await expect(storedCheckpoint(at('m.json'), tmpdir(), folder)).rejects.toThrow('outside of the storage')
  })
})

test('a checkpoint is known by its content, a folder by its files and their names', async () => {
  const file = put('a', 'abc')
  expect(await checkpointSum(file)).toEqual({
    bytes: 3,
    sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  })
  put('one/x', 'ab')
  put('one/deep/y', 'c')
  put('two/x', 'abc')
  put('two/deep/y', '')
  const [one, two] = [await checkpointSum(at('one')), await checkpointSum(at('two'))]
  expect([one.bytes, two.bytes]).toEqual([3, 3])
  expect(one.sha256).not.toBe(two.sha256)
  expect(await checkpointSum(at('one'))).toEqual(one)
  symlinkSync('deep', at('one/link'))
  expect((await checkpointSum(at('one'))).sha256).not.toBe(one.sha256)
})

describe('the sum of a checkpoint that is watched', () => {
  const MINUTE = new Date('2026-11-17T00:00:00Z')
  const LATER = new Date('2026-11-17T00:01:00Z')

  test.each(['a', 'folder/deep/a'])('is read again where size or time of %s differ, and only there', async (name) => {
    const [sums, file, path] = [new CheckpointSums(), put(name, 'abc'), at(name.split('/')[0]!)]
    utimesSync(file, MINUTE, MINUTE)
    const first = await sums.of(path)
    expect(first).toEqual(await checkpointSum(path))
    writeFileSync(file, 'xyz')
    utimesSync(file, MINUTE, MINUTE)
    expect(await sums.of(path)).toEqual(first)
    utimesSync(file, LATER, LATER)
    expect(await sums.finalOf(path)).toEqual(await checkpointSum(path))
    writeFileSync(file, 'longer')
    utimesSync(file, LATER, LATER)
    expect((await sums.of(path)).bytes).toBe(6)
  })

  test('is refused where it changes while it is read at the end', async () => {
    const file = put('a', 'x'.repeat(2 ** 25))
    const writing = setInterval(() => appendFileSync(file, 'x'), 1)
    const summing = new CheckpointSums().finalOf(file)
    await expect(summing).rejects.toThrow('is still being written although the program has ended')
    clearInterval(writing)
  })
})

test.runIf(process.platform === 'linux')(
  'a pipe among the files of a checkpoint is refused, not waited for',
  async () => {
    put('one/x', 'ab')
    execFileSync('mkfifo', [at('one/pipe')])
    await expect(checkpointSum(at('one'))).rejects.toThrow('neither a file nor a folder')
  },
)
