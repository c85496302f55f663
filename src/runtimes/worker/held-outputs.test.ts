import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../domain/tensor.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import type { ModelRun } from '../contract.ts'
import type { PairOfOutputs } from '../protocol/messages.ts'
import { readPaired, wireMeasured } from '../protocol/paired.ts'
import { HeldOutputs } from './held-outputs.ts'

const floats = (...values: number[]): Tensor => ({
  dtype: 'float32',
  shape: [values.length],
  bytes: encodeNumbers('float32', values),
})

/** A run that gives these, in chunks of so many bytes that the next one overwrites. */
function giving(outputs: Readonly<Record<string, Tensor>>, chunk = Infinity) {
  return async (sink: Parameters<Parameters<HeldOutputs['run']>[1]>[0]): Promise<ModelRun> => {
    for (const [name, { dtype, shape, bytes }] of Object.entries(outputs)) {
      const memory = new Uint8Array(Math.min(chunk, bytes.length) + 1)
      for (let offset = 0; offset < bytes.length; offset += chunk) {
        const part = bytes.subarray(offset, offset + chunk)
        memory.set(part)
        const last = offset + part.length === bytes.length
        await sink({ name, dtype, shape, offset, last, bytes: memory.subarray(0, part.length) })
      }
    }
    return { durationMs: 1, values: [] }
  }
}

const pair = (name: string) => ({ name: `layer ${name}`, reference: name, target: name })

async function measure(
  reference: Readonly<Record<string, Tensor>>,
  target: Readonly<Record<string, Tensor>>,
  pairs: readonly PairOfOutputs[] = Object.keys(reference).map(pair),
  chunk = Infinity,
) {
  const held = new HeldOutputs()
  await held.run({ hold: true, shapes: [] }, giving(reference, chunk))
  return (await held.run({ pairs, mask: null, shapes: [] }, giving(target, chunk))).measured
}

describe('outputs that stayed', () => {
  test.each([Infinity, 4])('are measured, in the order that was asked for, in chunks of %d bytes', async (chunk) => {
    const given = { a: floats(1, 2), b: floats(3, 4) }
    const measured = await measure(given, { b: floats(3, 6), a: floats(1, 2) }, undefined, chunk)
    expect(measured.map(({ name, sums }) => [name, sums?.maxAbs])).toEqual([
      ['layer a', 0],
      ['layer b', 2],
    ])
  })

  test('of one side alone are said to be', async () => {
    const pairs = [pair('a'), { name: 'layer b', reference: null, target: 'b' }, pair('c')]
    const measured = await measure({ a: floats(1) }, { b: floats(1) }, pairs)
    expect(measured.map(({ name, problem }) => [name, problem])).toEqual([
      ['layer a', 'only the reference computes it'],
      ['layer b', 'only the target computes it'],
    ])
  })

  test('are forgotten afterwards', async () => {
    const held = new HeldOutputs()
    await held.run({ hold: true, shapes: [] }, giving({ a: floats(1) }))
    await held.run({ pairs: [], mask: null, shapes: [] }, giving({}))
    const { measured } = await held.run({ pairs: [pair('a')], mask: null, shapes: [] }, giving({ a: floats(1) }))
    expect(measured.map(({ problem }) => problem)).toEqual(['only the target computes it'])
  })

  test('travel as sums, infinite ones too', async () => {
    const wide = (value: number): Tensor => ({
      dtype: 'float64',
      shape: [1],
      bytes: encodeNumbers('float64', [value]),
    })
    const measured = await measure({ a: wide(1e200), b: floats(1), c: floats(0) }, { a: wide(2e200), b: floats(1, 2) })
    expect(measured[0]!.sums!.squares.difference).toBe(Infinity)
    const sent = JSON.parse(JSON.stringify(wireMeasured({ durationMs: 1, values: [], measured })))
    expect(sent.measured.map(readPaired)).toEqual(measured)
  })
})
