import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ExpectedFailure } from '../domain/expected-failure.ts'
import { commonValues } from '../options/common-values.ts'
import { resolveOptions } from '../options/resolve.ts'
import { acceptedLines } from '../reporters/accepted-lines.ts'
import { executeRun, type RunRequest } from '../runs/execute/execute.ts'
import { expectedPlace } from '../runs/expected/expected-place.ts'
import { FAIL, freshFolder, PASS, runRequest, tinySuite } from '../runs/testing/tiny-suite.ts'
import { TEST_OPTIONS } from '../suites/onnx/options.ts'
import { acceptOutcome, refuseUnwritable } from './accept.ts'

const TODAY = '2027-03-01'
const values = commonValues(
  resolveOptions(TEST_OPTIONS, { commandLine: { accept: true }, environment: {}, file: {} }).values,
  {},
)

async function accept(entries: readonly ExpectedFailure[], more: Partial<RunRequest> = {}, folder = freshFolder()) {
  const suite = tinySuite(['a', 'b', 'c'], async (c) => (c.id === 'a' ? PASS : FAIL))
  const expected = { entries, today: TODAY }
  const outcome = await executeRun(runRequest(folder, suite, { expected, ...more }))
  const place = expectedPlace(undefined, null, folder)
  return { ...(await acceptOutcome(outcome, entries, place, values, TODAY)), place }
}

describe('accepting the outcome of a run', () => {
  test('ends as a run that had known the entries', async () => {
    const { exitCode, accepted, place } = await accept([])
    expect([exitCode, accepted.left, acceptedLines(accepted)]).toEqual([
      0,
      [],
      ['accepted 2 in assay.expected.yaml:', '  + b  fail', '  + c  fail'],
    ])
    expect(readFileSync(place.path, 'utf8')).toContain('- id: "b"\n  verdict: fail\n')
  })

  test('writes nothing for a run that was interrupted', async () => {
    const signals = { stop: AbortSignal.abort(), abort: new AbortController().signal }
    const { exitCode, accepted, place } = await accept([], { signals })
    expect([exitCode, acceptedLines(accepted)]).toEqual([2, ['nothing was accepted: the run was interrupted']])
    expect(existsSync(place.path)).toBe(false)
  })

  test('a glob that covers a passing case keeps the run failed, also where its own entry goes', async () => {
    const folder = freshFolder()
    const text = '- id: "?"\n  verdict: fail\n- id: a\n  verdict: fail\n'
    writeFileSync(join(folder, 'assay.expected.yaml'), text)
    const entry = (id: string, line: number): ExpectedFailure => ({ id, verdict: 'fail', place: `f:${line}` })
    const { exitCode, accepted } = await accept([entry('?', 1), entry('a', 3)], {}, folder)
    expect([exitCode, accepted.removed, accepted.left.map(({ id, verdict }) => `${id} ${verdict}`)]).toEqual([
      1,
      ['a'],
      ['a xpass'],
    ])
  })

  test('writes through a link and refuses a folder that is not there before the run', async () => {
    const folder = freshFolder()
    mkdirSync(join(folder, 'real'))
    writeFileSync(join(folder, 'real/list.yaml'), '# ours\n[]\n')
    symlinkSync('real/list.yaml', join(folder, 'assay.expected.yaml'))
    await accept([], {}, folder)
    expect(readFileSync(join(folder, 'real/list.yaml'), 'utf8')).toMatch(/^# ours\n[\s\S]*id: "b"/)
    const nowhere = expectedPlace('no/where.yaml', null, folder)
    await expect(refuseUnwritable(nowhere)).rejects.toThrow('does not exist; create it first')
  })

  test('lists at most twenty of many', async () => {
    const ids = Array.from({ length: 60 }, (_, i) => `m${i}`)
    const suite = tinySuite(ids, async () => FAIL)
    const { accepted } = await accept([], { suites: [suite] })
    const lines = acceptedLines(accepted)
    expect([lines.length, lines.at(-1)]).toEqual([22, '  … and 40 more'])
  })
})
