import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { assayJson, copyFixture, fixtures, project } from '../support/assay.ts'
import { printFigures } from './figures.ts'

const REPEATS = 1000
const ALLOWED = 1 / 1000

interface Tally {
  readonly repeats: number
  readonly retried: number
  readonly unstable: number
  /** Verdict or numbers are not those of the first time. */
  readonly differing: readonly string[]
}

/** All that two runs of a case on one runtime have in common when every bit is equal. */
function bitsOf({ verdict, reason, metrics, outputs, worst }: Result): string {
  return JSON.stringify({ verdict, reason, metrics, outputs, worst })
}

function tally(runs: readonly (readonly Result[])[]): Tally {
  const first = new Map(runs[0]!.map((result) => [result.id, bitsOf(result)]))
  const all = runs.flat()
  const flagged = (flag: string) => all.filter(({ flags }) => flags.includes(flag)).length
  const differing = all.filter((result) => bitsOf(result) !== first.get(result.id)).map(({ id }) => id)
  return { repeats: all.length, retried: flagged('retried'), unstable: flagged('unstable'), differing }
}

/** How many of the repeats were not like the others. */
const oddOnes = ({ retried, unstable, differing }: Tally) => retried + unstable + differing.length

const share = (count: number, of: number) => `${((100 * count) / of).toFixed(2)} %`

test.each(['ort:cpu', 'ort-web:wasm'])(
  'of 1,000 cases on %s, at most one is retried, unstable or of other bits',
  async (target) => {
    const folder = project()
    const names = readdirSync(join(fixtures, 'onnx-cases')).filter((name) => name.startsWith('test_'))
    for (const name of names) copyFixture(`onnx-cases/${name}`, join(folder, 'cases', name))
    const runs: (readonly Result[])[] = []
    for (let judged = 0; judged < REPEATS; judged += names.length)
      runs.push((await assayJson(['test', 'cases', '--target', target, '--recompute'], folder)).results)
    const found = tally(runs)
    const { repeats, retried, unstable, differing } = found
    printFigures(`repeat ${target}`, {
      repeats,
      retried: share(retried, repeats),
      unstable: share(unstable, repeats),
      'differing bits': share(differing.length, repeats),
    })
    expect(repeats).toBeGreaterThanOrEqual(REPEATS)
    expect(differing).toEqual(differing.slice(0, 1))
    expect(oddOnes(found) / repeats).toBeLessThanOrEqual(ALLOWED)
  },
  900_000,
)

test('a case that gives another number once, or was tried twice, is counted', async () => {
  const folder = project()
  copyFixture('onnx-cases/test_abs', join(folder, 'cases/test_abs'))
  const [result] = (await assayJson(['test', 'cases', '--target', 'ort:cpu'], folder)).results
  const metrics = result!.metrics.map((metric) => ({ ...metric, value: 1e-9 }))
  const other = { ...result!, metrics }
  expect(oddOnes(tally([[result!], [result!]]))).toBe(0)
  expect(tally([[result!], [other]]).differing).toEqual([result!.id])
  expect(oddOnes(tally([[{ ...result!, flags: ['retried'] }], [{ ...result!, flags: ['unstable'] }]]))).toBe(2)
})
