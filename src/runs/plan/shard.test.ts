import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Case } from '../contract.ts'
import { freshFolder, tinyCase, tinyResult } from '../testing/tiny-suite.ts'
import { collectDurations, readDurations, writeDurations } from './durations.ts'
import { parseShard, shardCases } from './shard.ts'

/** The same numbers in every run of the tests. */
function randomSource(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function randomCases(random: (below: number) => number): { cases: Case[]; durations: Map<string, number> } {
  const cases = Array.from({ length: random(60) }, (_, i) =>
    tinyCase(`case${i}`, { affinity: random(3) === 0 ? '' : `model${random(12)}` }),
  )
  const measured = cases.filter(() => random(2) === 0)
  return { cases, durations: new Map(measured.map((c) => [c.id, random(10_000)])) }
}

const allShards = (cases: Case[], count: number, durations?: Map<string, number>) =>
  Array.from({ length: count }, (_, i) => shardCases(cases, { index: i + 1, count }, durations))

describe('shards', () => {
  test('of random lists hold every case exactly once, in order, with each affinity in one shard', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomSource(seed)
      const { cases, durations } = randomCases(random)
      const shards = allShards(cases, 1 + random(8), durations)
      expect(shards.flat().sort((a, b) => cases.indexOf(a) - cases.indexOf(b))).toEqual(cases)
      for (const shard of shards) {
        const places = shard.map((c) => cases.indexOf(c))
        expect(places).toEqual([...places].sort((a, b) => a - b))
      }
      for (const name of new Set(cases.map((c) => c.affinity).filter((affinity) => affinity !== ''))) {
        expect(shards.filter((shard) => shard.some((c) => c.affinity === name))).toHaveLength(1)
      }
    }
  })

  test('are balanced by measured durations, not by count', () => {
    const cases = ['slow', 'b', 'c', 'd'].map((id) => tinyCase(id))
    const durations = new Map([
      ['slow', 300],
      ['b', 100],
      ['c', 100],
      ['d', 100],
    ])
    expect(allShards(cases, 2, durations).map((shard) => shard.map((c) => c.id))).toEqual([['slow'], ['b', 'c', 'd']])
  })

  test('no shard is heavier than the lightest plus the largest group', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const random = randomSource(seed)
      const cases = Array.from({ length: 40 }, (_, i) => tinyCase(`case${i}`))
      const durations = new Map(cases.map((c) => [c.id, 1 + random(1000)]))
      const loads = allShards(cases, 4, durations).map((shard) =>
        shard.reduce((sum, c) => sum + durations.get(c.id)!, 0),
      )
      expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(Math.max(...durations.values()))
    }
  })

  test('a case without measurement counts as estimated, or as an average one', () => {
    const cases = [tinyCase('a'), tinyCase('b'), tinyCase('new'), tinyCase('big', { estimateMs: 5000 })]
    const durations = new Map([
      ['a', 1000],
      ['b', 2000],
    ])
    const shards = allShards(cases, 2, durations).map((shard) => shard.map((c) => c.id))
    expect(shards).toEqual([['big'], ['a', 'b', 'new']])
  })

  test('without measurements the counts are even, also where all cost nothing', () => {
    const cases = Array.from({ length: 10 }, (_, i) => tinyCase(`case${i}`))
    expect(allShards(cases, 4).map((shard) => shard.length)).toEqual([3, 3, 2, 2])
    const free = new Map(cases.map((c) => [c.id, 0]))
    expect(allShards(cases, 4, free).map((shard) => shard.length)).toEqual([3, 3, 2, 2])
  })

  test.each(['', '1', '0/3', '4/3', '1/0', '-1/3', '1.5/3', 'a/b', '1/3/5'])('--shard %j is refused', (text) => {
    expect(() => parseShard(text)).toThrow(/expected i\/n with 1 ≤ i ≤ n/)
  })

  test('--shard 2/5 is read', () => {
    expect(parseShard('2/5')).toEqual({ index: 2, count: 5 })
  })
})

describe('durations', () => {
  test('are written sorted and read back', async () => {
    const path = join(freshFolder(), 'durations.json')
    await writeDurations(
      path,
      new Map([
        ['b', 2],
        ['__proto__', 3],
        ['a', 1.26],
      ]),
    )
    expect(readFileSync(path, 'utf8')).toBe('{\n  "__proto__": 3,\n  "a": 1.3,\n  "b": 2\n}\n')
    expect([...(await readDurations(path))]).toEqual([
      ['__proto__', 3],
      ['a', 1.3],
      ['b', 2],
    ])
  })

  test.each(['', 'x', '[]', '3', 'null', '{"a": "1"}', '{"a": -1}', '{"a": 1e999}', '{"a": null}'])(
    '%j is refused',
    async (text) => {
      const path = join(freshFolder(), 'durations.json')
      writeFileSync(path, text)
      await expect(readDurations(path)).rejects.toThrow(/expected \{"case id": milliseconds\}/)
    },
  )

  test('a missing file is refused by name', async () => {
    await expect(readDurations('/nowhere/d.json')).rejects.toThrow(/durations file \/nowhere\/d.json cannot be read/)
  })

  test('count the work a case did, and remember what it cost when it found its work done', () => {
    const step = { title: 's', stage: 'run', key: 'k' } as const
    const cold = tinyResult('cold', { steps: [{ ...step, cached: false, durationMs: 70 }] })
    const warm = tinyResult('warm', { steps: [{ ...step, cached: true, durationMs: 1 }] })
    const earlier = new Map([
      ['cold', 900],
      ['warm', 500],
      ['gone', 5],
    ])
    expect(Object.fromEntries(collectDurations([cold, warm], earlier))).toEqual({ cold: 70, warm: 500, gone: 5 })
    expect(collectDurations([warm]).get('warm')).toBe(0)
  })
})
