import { afterAll, describe, expect, test } from 'vitest'
import type { TensorChunk } from '../../src/domain/tensor.ts'
import type { Side } from '../../src/domain/verdict.ts'
import type { JointSink } from '../../src/runtimes/host/joint-capture.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { PairedStreams } from '../../src/suites/layers/paired-streams.ts'
import { affineModel } from '../support/small-models.ts'
import { floats, joinChunks, numbersOf, saveModel, testPool, traceOf } from './capture.ts'
import { failureOf, workerPids } from './conformance.ts'

const TARGETS = ['ort:cpu', 'ort:cpu,threads=2']
const SIDES: readonly Side[] = ['reference', 'target']

/** Each side waits for the other, as in a comparison. */
class Meeting implements JointSink {
  readonly chunks: readonly TensorChunk[][] = [[], []]
  readonly #streams = new PairedStreams({ mask: null })
  readonly #onChunk: () => void

  constructor(onChunk: () => void = () => {}) {
    this.#onChunk = onChunk
  }

  readonly sinks = SIDES.map((side, i) => async (chunk: TensorChunk) => {
    this.chunks[i]!.push({ ...chunk, bytes: chunk.bytes.slice() })
    this.#onChunk()
    await this.#streams.take(side, chunk)
  })

  ended(run: number): void {
    this.#streams.end(SIDES[run]!)
  }

  failed(error: unknown): void {
    this.#streams.stop(error)
  }
}

describe('two runs at the same time', () => {
  const pool = testPool({ size: 1 })
  afterAll(() => pool.close())

  async function tasks() {
    const model = await saveModel(affineModel())
    const inputs = traceOf({ x: floats([1, 2, 3, 4, 5, 6], [2, 3]) })
    return TARGETS.map((spec, i) => ({ target: readTarget(spec), side: SIDES[i]!, model, inputs }))
  }

  test('have one place among the workers, and each gives everything', async () => {
    const meeting = new Meeting()
    const { value, retried } = await pool.captureTogether(await tasks(), () => meeting)
    const given = meeting.chunks.map((chunks) => numbersOf(joinChunks(chunks).get('y')))
    expect(given[0]).toEqual(given[1])
    expect(given[0]).not.toEqual([])
    expect([retried, value.map(({ detail }) => detail.threads)]).toEqual([false, ['1', '2']])
  })

  test('both begin again in fresh workers when one is killed', async () => {
    const meetings: Meeting[] = []
    const kill = () => {
      if (meetings.length === 1) process.kill(workerPids()[0]!, 'SIGKILL')
    }
    const { retried } = await pool.captureTogether(await tasks(), () => {
      meetings.push(new Meeting(kill))
      return meetings.at(-1)!
    })
    const given = meetings.at(-1)!.chunks.map((chunks) => numbersOf(joinChunks(chunks).get('y')).length)
    expect([retried, meetings.length, given]).toEqual([true, 2, [6, 6]])
  })

  test('end with the first failure, and nobody waits for what does not come', async () => {
    const [first, second] = await tasks()
    const wrong = { ...second!, inputs: traceOf({ nonsense: floats([1]) }) }
    const error = await failureOf(pool.captureTogether([first!, wrong], () => new Meeting()))
    expect(error).toMatchObject({ stage: 'run', side: 'target' })
    const { value } = await pool.captureTogether(await tasks(), () => new Meeting())
    expect(value).toHaveLength(2)
  })
})
