import { expect } from 'vitest'
import { until } from '../../../test/support/events.ts'
import { testWith } from '../../../test/support/needs.ts'
import { hasPython } from '../../../test/support/python.ts'
import { PythonLines } from './python-lines.ts'

/** Answers every line with its own process id. */
const PROGRAM = `
import os, sys
for line in sys.stdin:
    print("assay: %d" % os.getpid(), flush=True)
`

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

testWith(
  'python',
  hasPython,
  'a program that is not asked any more ends, and the next question starts another',
  async () => {
    const lines = new PythonLines(['python3', '-c', PROGRAM], 60_000, 1)
    const first = Number(await lines.ask('who'))
    await until(() => !lives(first), 'it has ended')
    const second = Number(await lines.ask('who'))
    expect(second).not.toBe(first)
    await until(() => !lives(second), 'the other has ended too')
  },
)

testWith('python', hasPython, 'one program answers questions that follow each other', async () => {
  const lines = new PythonLines(['python3', '-c', PROGRAM], 60_000)
  const [first, second] = await Promise.all([lines.ask('who'), lines.ask('who again')])
  expect(second).toBe(first)
  process.kill(Number(first), 'SIGKILL')
})
