import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTraceWriter } from '../../../files/formats/trace-writer.ts'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import type { SequenceStep } from '../../../runtimes/contract.ts'
import { DecodedTraceWriter, readDecodedTrace } from './decoded-trace.ts'

const NONE = { nan: 0, positiveInfinity: 0, negativeInfinity: 0 }
const top = { ids: [3, 1], logits: Float32Array.of(2, 0.5) }

function step(token: number, more: Partial<SequenceStep> = {}): SequenceStep {
  return { chosen: token, token, ended: false, logSumExp: 2.5, nonFinite: NONE, top, ...more }
}

const written = async (
  steps: readonly (readonly (SequenceStep | null)[])[],
  shape = { batch: 2, newTokens: 3, topK: 2 },
) => {
  const path = join(freshFolder(), 'trace.safetensors')
  const writer = new DecodedTraceWriter(path, shape)
  for (const [i, sequences] of steps.entries()) {
    await writer.add({ step: i, durationMs: 0, sequences }, (row) => ({ ids: [0], logits: Float32Array.of(row[0]!) }))
  }
  await writer.finish()
  return readDecodedTrace(path)
}

describe('a trace of a decoder', () => {
  test('is read as it was written, each sequence as long as it was', async () => {
    const at = Float32Array.of(1, -1)
    const { sequences, logits } = await written([
      [step(3, { at }), step(1)],
      [step(4), null],
    ])
    expect(sequences.map((steps) => steps.map(({ token }) => token))).toEqual([[3, 4], [1]])
    expect(sequences[0]![0]).toEqual({
      token: 3,
      chosen: 3,
      logSumExp: 2.5,
      nonFinite: NONE,
      top,
      at,
    })
    expect(logits).toBeUndefined()
  })

  test('keeps that nothing could be chosen, and what was no number', async () => {
    const lost = step(0, { token: null, chosen: null, nonFinite: { ...NONE, nan: 7 }, logSumExp: Number.NaN })
    const [[kept]] = (await written([[lost, null]])).sequences as [[{ token: number | null }], unknown]
    expect(kept).toMatchObject({ token: null, chosen: null, nonFinite: { nan: 7 } })
  })

  test('with all logits has zeros after the end of a sequence, and its largest are found', async () => {
    const row = (...values: number[]) => ({ top: undefined, logits: Float32Array.from(values) })
    const { top: _top, ...plain } = step(2)
    const { sequences, logits } = await written([
      [
        { ...plain, logits: row(5, 6).logits },
        { ...plain, logits: row(7, 8).logits },
      ],
      [{ ...plain, logits: row(9, 10).logits }, null],
    ])
    expect(logits!.shape).toEqual([3, 2, 2])
    const chunks: number[] = []
    for await (const chunk of logits!.chunks()) chunks.push(...new Float32Array(chunk.slice().buffer))
    expect(chunks).toEqual([5, 6, 7, 8, 9, 10, 0, 0, 0, 0, 0, 0])
    expect(sequences[0]![0]!.top).toEqual({ ids: [0], logits: Float32Array.of(5) })
  })

  test('is not any file with tensors', async () => {
    const path = join(freshFolder(), 'other.safetensors')
    const writer = createTraceWriter(path, 1)
    await writer.sink({ name: 'steps', dtype: 'int64', shape: [1], offset: 0, last: true, bytes: new Uint8Array(8) })
    await writer.finish([{ name: 'steps', kind: 'tensor', length: 1 }])
    await expect(readDecodedTrace(path)).rejects.toThrow('"steps" is int64, expected int32, float32 or float64')
    const none = join(freshFolder(), 'none.safetensors')
    const empty = createTraceWriter(none, 1)
    await empty.sink({ name: 'y', dtype: 'int32', shape: [1], offset: 0, last: true, bytes: new Uint8Array(4) })
    await empty.finish([{ name: 'y', kind: 'tensor', length: 1 }])
    await expect(readDecodedTrace(none)).rejects.toThrow('has no tensor "steps"; it is not a trace of a decoder')
  })
})
