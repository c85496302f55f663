import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { ended, startAssay } from '../support/assay.ts'
import { describeWith } from '../support/needs.ts'
import { recordedTraining } from '../support/recorded-training.ts'

const MIB = 2 ** 20

let folder: string
beforeAll(async () => {
  folder = await recordedTraining()
})

/** Puts lines in front of the program, so that it does something before it trains. */
function disturbed(name: string, before: string): string {
  writeFileSync(join(folder, `${name}.mjs`), `${before}\nawait import('./program.mjs')\n`)
  const config = readFileSync(join(folder, 'tests.yml'), 'utf8').replace('program.mjs', `${name}.mjs`)
  writeFileSync(join(folder, `${name}.yml`), config)
  return `${name}.yml`
}

/** Largest resident size of a process; the system keeps it, so that looking now and then is enough. */
async function peakOf(args: readonly string[]) {
  const child = startAssay([...args, '--json'], folder)
  let peakBytes = 0
  const timer = setInterval(() => {
    try {
      const kibibytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
      peakBytes = Math.max(peakBytes, Number(kibibytes ?? 0) * 1024)
    } catch {
      // It has ended.
    }
  }, 50)
  const ran = await ended(child)
  clearInterval(timer)
  return { peakBytes, results: JSON.parse(ran.stdout).results as Result[] }
}

describeWith('linux', process.platform === 'linux', 'a program that', () => {
  const write = (stream: string, bytes: number, text: string) => `
import { writeSync } from 'node:fs'
const chunk = Buffer.from(${text})
for (let left = ${bytes}; left > 0; ) {
  try { left -= writeSync(${stream}, chunk, 0, Math.min(chunk.length, left)) } catch (error) { if (error.code !== 'EAGAIN') throw error }
}
writeSync(${stream}, '\\n')`

  test.each([
    ['floods stderr with 100 MB', 'errors', write('2', 100 * MIB, `'x'.repeat(99).concat('\\n').repeat(600)`)],
    ['floods stdout with 100 MB', 'prints', write('1', 100 * MIB, `'x'.repeat(99).concat('\\n').repeat(600)`)],
    ['prints a line of 1 GB', 'line', write('1', 1024 * MIB, `'Step: 5 Loss: 1 '.repeat(4096)`)],
  ])(
    '%s is judged as if it had not, in bounded memory',
    async (_what, name, before) => {
      const args = ['converge', '-t', disturbed(name, before), '-s', 'storage', '-k', 'ckpt_3']
      const { peakBytes, results } = await peakOf(args)
      expect(results[0]).toMatchObject({ verdict: 'pass', coverage: { compared: 3, expected: 3 } })
      expect(peakBytes).toBeGreaterThan(0)
      expect(peakBytes).toBeLessThan(400 * MIB)
    },
    240_000,
  )
})
