import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import { type DecodingRequest, judgeDecoders, microModel } from '../../testing/decoders.ts'
import { onlyResult } from '../../testing/judge.ts'
import type { DecoderModel } from '../decoder-model.ts'
import { TraceStore } from './trace-store.ts'

let healthy: DecoderModel
let other: DecoderModel
let traces: string
beforeAll(async () => {
  const folder = freshFolder()
  healthy = await microModel(folder, 'healthy')
  other = await microModel(folder, 'other', { seed: 7 })
  traces = await stored(healthy)
})

/** The folder that a run left its traces in. */
async function stored(model: DecoderModel): Promise<string> {
  const folder = join(freshFolder(), 'traces')
  const { verdict } = onlyResult(
    await judgeDecoders(freshFolder(), model, { store: new TraceStore(folder, true, () => {}) }),
  )
  expect(verdict).toBe('pass')
  return folder
}

/** Judges with the traces of a folder and an empty cache; says what was decoded, and what was told. */
async function judgedWith(folder: string, model: DecoderModel, more: DecodingRequest = {}) {
  const told: string[] = []
  const store = new TraceStore(folder, false, (text) => told.push(text))
  const result = onlyResult(await judgeDecoders(freshFolder(), model, { store, ...more }))
  const decoded = result.steps.flatMap(({ title }) => (title.startsWith('decode on ') ? [title] : []))
  return { ...result, decoded, told }
}

const TARGET = 'decode on ort:cpu,optimization=disabled'

describe('stored traces', () => {
  test('are one for every side of every batch, each with a manifest', () => {
    const names = readdirSync(traces)
    expect(names.filter((name) => name.endsWith('.trace.json'))).toHaveLength(4)
    expect(names.map((name) => name.split('-')[0]).sort()).toEqual([
      ...Array(4).fill('reference'),
      ...Array(4).fill('target'),
    ])
  })

  test('stand for the reference, while the target is to run anew', async () => {
    const { verdict, decoded, told } = await judgedWith(traces, healthy)
    expect([verdict, decoded, told]).toEqual(['pass', [TARGET, TARGET], []])
  })

  test('stand for both where nothing may be decoded', async () => {
    const { verdict, decoded } = await judgedWith(traces, healthy, { computes: false })
    expect([verdict, decoded]).toEqual(['pass', []])
  })

  test('of another model are not taken, and why is told of each', async () => {
    const { verdict, decoded, told } = await judgedWith(traces, other)
    expect(verdict).toBe('pass')
    expect(decoded).toHaveLength(4)
    const why = expect.stringMatching(/^reference-.*\.safetensors in .* is not used: it differs in modelDigest$/)
    expect(told).toEqual([why, why])
  })

  test('that are not there are an error where nothing may be decoded', async () => {
    const { error } = await judgedWith(join(freshFolder(), 'nowhere'), healthy, { computes: false })
    expect(error).toMatchObject({ stage: 'run', side: 'reference' })
    expect(error!.message).toMatch(
      /^--skip-computation is given, but the output of ort:cpu for these prompts is neither stored/,
    )
  })

  test('that were changed are an error', async () => {
    const folder = await stored(healthy)
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.safetensors'))) {
      const bytes = readFileSync(join(folder, name))
      bytes[bytes.length - 1]! ^= 1
      writeFileSync(join(folder, name), bytes)
    }
    const { verdict, error } = await judgedWith(folder, healthy)
    expect([verdict, error?.message]).toEqual(['error', expect.stringContaining('does not match its manifest')])
  })

  test('whose manifest is somebody else’s or leads elsewhere are passed over', async () => {
    const folder = await stored(healthy)
    const manifests = readdirSync(folder).filter((name) => name.endsWith('.trace.json'))
    for (const [i, name] of manifests.entries()) {
      const manifest = JSON.parse(readFileSync(join(folder, name), 'utf8'))
      const text = i % 2 === 0 ? '{ half' : JSON.stringify({ ...manifest, file: '../elsewhere.safetensors' })
      writeFileSync(join(folder, name), text)
    }
    const { verdict, decoded, told } = await judgedWith(folder, healthy)
    expect([verdict, decoded.length, told]).toEqual(['pass', 4, []])
  })
})
