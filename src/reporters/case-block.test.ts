import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { caseBlock } from './case-block.ts'
import { createStyle } from './style.ts'
import { failedResult, KeptStream, sampleResult } from './testing/sample-run.ts'

const style = createStyle(new KeptStream(80, true), { env: {}, color: false })
const artifact = (name: string) => ({ name, path: 'artifacts/00', bytes: 1, sha256: '00' })
const both = [artifact('reference.safetensors'), artifact('target.safetensors')]

function lookOf(change: Partial<typeof failedResult>, folder = '.assay/runs/01JD3Z8Q6V4T9X2M5N7P0R1S3T'): string[] {
  const lines = caseBlock({ ...failedResult, ...change }, { style, verbose: false, folder, durationMs: undefined })
  return lines.filter((line) => line.startsWith('  look')).map((line) => line.slice(13))
}

test('a case whose both sides were kept has a command that shows them, for a shell', () => {
  expect(lookOf({ artifacts: both })).toEqual([
    'assay diff silero_vad/full_model@chromium:webgpu --run 01JD3Z8Q6V4T9X2M5N7P0R1S3T',
  ])
  expect(lookOf({ artifacts: both, id: "it's [batch=2]" }, '/elsewhere/run')).toEqual([
    "assay diff 'it'\\''s [batch=2]' --run /elsewhere/run",
  ])
})

test('the command finds a case whose id a terminal would not show', () => {
  const id = 'm\u001b[31m\n/full_model@ort:cpu'
  const [command] = lookOf({ artifacts: both, id })
  const words = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' }).split('\0')
  expect(words.slice(0, 3)).toEqual(['assay', 'diff', id])
})

test('one side alone, or a case that passed, has none', () => {
  expect(lookOf({ artifacts: both.slice(1) })).toEqual([])
  expect(lookOf({ artifacts: both, verdict: 'pass' })).toEqual([])
})

test('an output that fails for another reason than its count says that reason, though the case has said it', () => {
  const [passed] = sampleResult().outputs
  const reason = 'mean 2.31 of 1 run, 2.21 ± 0.02 of 5 seeds: t 4.1, limit 2.9'
  const outputOf = (count: number) => ({
    ...passed!,
    verdict: 'fail' as const,
    reason,
    mismatches: { count, of: 9, allowed: 0 },
  })
  const linesOf = (count: number) =>
    caseBlock(
      { ...failedResult, reason: `loss: ${reason}`, outputs: [outputOf(count)] },
      { style, verbose: false, folder: '.', durationMs: undefined },
    ).filter((line) => /^ {4}(why|mismatches)/.test(line))
  expect(linesOf(0)).toEqual([`    why        ${reason}`])
  expect(linesOf(3)).toEqual(['    mismatches 3 of 9 (allowed 0)'])
})

test('a long command that ran is wrapped, not cut', () => {
  const command = `python3 train.py ${Array.from({ length: 30 }, (_, i) => `--option-${i} value-${i}`).join(' ')}`
  const result = { ...failedResult, artifacts: [], measurements: { 'target.command': command } }
  const lines = caseBlock(result, { style, verbose: false, folder: '.', durationMs: undefined })
  const from = lines.findIndex((line) => line.startsWith('  ran'))
  const ran = lines.slice(from, -1).map((line) => line.slice(13))
  expect(ran.join(' ')).toBe(`target: command ${command}`)
  expect(Math.max(...ran.map((line) => line.length))).toBeLessThanOrEqual(67)
})

test('a table is shown whatever the verdict is', () => {
  const table = { head: ['layer', 'rel_l2', ''], rows: [['norm', '0.5', 'made there']] }
  const lines = caseBlock({ ...failedResult, table }, { style, verbose: false, folder: '', durationMs: undefined })
  expect(lines.map((line) => line.trimEnd())).toEqual(
    expect.arrayContaining(['  layer  rel_l2', '  norm      0.5  made there']),
  )
})
