import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../domain/run.ts'
import { GithubReporter } from './github.ts'
import {
  allVerdicts,
  failedResult,
  HOSTILE,
  hostileResults,
  inconclusiveResult,
  KeptStream,
  replayEvents,
  sampleHeader,
  sampleResult,
} from './testing/sample-run.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-github-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function report(events: readonly RunEvent[]): Promise<{ log: string; summary: string }> {
  const stream = new KeptStream()
  const file = join(folder, 'summary.md')
  const reporter = new GithubReporter(stream, file)
  for (const event of events) await reporter.onEvent(event)
  return { log: stream.text, summary: await readFile(file, 'utf8') }
}

describe('annotations', () => {
  test('errors and failures as errors, inconclusive as a warning, each with its command', async () => {
    const { log } = await report(replayEvents(allVerdicts))
    expect(log).toMatchInlineSnapshot(`
      "::error title=assay error%3A test_cast_FLOAT16_to_UINT4/full_model@ort%3Acpu%2Coptimization=disabled::run on the target: the worker died, and again when the case ran alone (SIGABRT)%0Areproduce: assay test models -k 'test_cast_FLOAT16_to_UINT4/full_model@ort:cpu,optimization=disabled'
      ::error title=assay fail%3A silero_vad/full_model@chromium%3Awebgpu::output "prob" differs%0Areproduce: assay test models -k 'silero_vad/full_model@chromium:webgpu'
      ::error title=assay xpass%3A ppocr/cls/full_model@ort-web%3Awasm::expected to fail: onnxruntime#29651%0Areproduce: assay test models -k 'ppocr/cls/full_model@ort-web:wasm'
      ::warning title=assay inconclusive%3A moonshine/encoder/full_model@ort-web%3Awasm::over tolerance but inside what roundings do to the reference%0Areproduce: assay test models -k 'moonshine/encoder/full_model@ort-web:wasm'
      "
    `)
  })

  test('a run where all is well prints none', async () => {
    expect((await report(replayEvents([sampleResult()]))).log).toBe('')
  })

  test('beyond what GitHub shows the rest is counted', async () => {
    const many = Array.from({ length: 25 }, (_, i) => ({ ...failedResult, id: `case ${i}` }))
    const lines = (await report(replayEvents(many))).log.trimEnd().split('\n')
    expect(lines).toHaveLength(10)
    expect(lines[9]).toBe('::error title=assay 16 more::the step summary and the run record list them')
  })

  test('an incomplete run is a warning even if all its cases passed', async () => {
    const { log, summary } = await report(replayEvents([sampleResult()], { state: 'interrupted' }))
    expect(log).toBe('::warning title=assay run::interrupted; 1 of 1 cases have a result\n')
    expect(summary).toContain('## ❔ Assay: 1 passed, run interrupted')
  })

  test('percent signs, colons and commas cannot end a property', async () => {
    const { log } = await report(replayEvents([{ ...failedResult, id: 'a%3A::x,file=y' }]))
    expect(log).toContain('::error title=assay fail%3A a%253A%3A%3Ax%2Cfile=y::output "prob" differs')
  })
})

describe('step summary', () => {
  test('verdict, counts and only what somebody has to look at', async () => {
    const { summary } = await report(replayEvents(allVerdicts))
    expect(rendered(summary)).toMatchInlineSnapshot(`
      "## ❌ Assay: 1 failed, 1 error, 1 inconclusive, 1 xpassed of 8 cases

      ✅ 1 pass · ❌ 1 fail · 💥 1 error · ❔ 1 inconclusive · 📸 1 captured · ⏩ 1 skip · ☑️ 1 xfail · ❗ 1 xpass

      | verdict | case | why | reproduce |
      |---|---|---|---|
      | 💥 error | <code>test_cast_FLOAT16_to_UINT4/full_model@ort:cpu,optimization=disabled</code> | run on the target: the worker died, and again when the case ran alone (SIGABRT) | <code>assay test models -k 'test_cast_FLOAT16_to_UINT4/full_model@ort:cpu,optimization=disabled'</code> |
      | ❌ fail | <code>silero_vad/full_model@chromium:webgpu</code> | output "prob" differs<br>relL2 0.6247 > limit 1e-4 (fp32 whole model, built-in table; n=1) | <code>assay test models -k 'silero_vad/full_model@chromium:webgpu'</code> |
      | ❗ xpass | <code>ppocr/cls/full_model@ort-web:wasm</code> | expected to fail: onnxruntime#29651 | <code>assay test models -k 'ppocr/cls/full_model@ort-web:wasm'</code> |
      | ❔ inconclusive | <code>moonshine/encoder/full_model@ort-web:wasm</code> | over tolerance but inside what roundings do to the reference | <code>assay test models -k 'moonshine/encoder/full_model@ort-web:wasm'</code> |

      1 passed, 1 failed, 1 error, 1 inconclusive, 1 captured, 1 skipped, 1 xfailed, 1 xpassed in 140.35s (0:02:20) · run <code>01JD3Z8Q6V4T9X2M5N7P0R1S3T</code> · record <code>.assay/runs/01JD3Z8Q6V4T9X2M5N7P0R1S3T</code>

      "
    `)
  })

  test('says that all is well in two lines', async () => {
    const { summary } = await report(replayEvents([sampleResult()]))
    expect(rendered(summary)).toMatchInlineSnapshot(`
      "## ✅ Assay: 1 passed

      ✅ 1 pass

      1 passed in 140.35s (0:02:20) · run <code>01JD3Z8Q6V4T9X2M5N7P0R1S3T</code> · record <code>.assay/runs/01JD3Z8Q6V4T9X2M5N7P0R1S3T</code>

      "
    `)
  })

  test('a run with nothing but inconclusive cases does not look passed', async () => {
    const { summary } = await report(replayEvents([inconclusiveResult]))
    expect(summary).toContain('## ❔ Assay: 1 inconclusive of 1 case')
    expect(summary).not.toContain('✅')
  })

  test('an inconclusive case that fails a strict run looks failed', async () => {
    const summary = { ...sampleHeader([inconclusiveResult]).summary!, exitCode: 1 }
    const strict = await report(replayEvents([inconclusiveResult], { summary }))
    expect(strict.summary).toContain('## ❌ Assay: 1 inconclusive of 1 case')
  })

  test('keeps below what GitHub takes', async () => {
    const many = Array.from({ length: 2000 }, (_, i) => ({
      ...failedResult,
      id: `${i}${'|'.repeat(5000)}`,
      reason: '|'.repeat(5000),
    }))
    const { summary } = await report(replayEvents(many))
    expect(Buffer.byteLength(summary)).toBeLessThan(1 << 20)
    expect(summary).toContain('… and 1900 more in the run record')
  })
})

/** As a reader sees it: entities and comments resolved. */
function rendered(markdown: string): string {
  return markdown.replaceAll('<!-- -->', '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
}

describe('hostile names', () => {
  test.each(HOSTILE.map((text) => [text.slice(0, 60), text]))('%j stays inert', async (_shown, hostile) => {
    const { log, summary } = await report(replayEvents(hostileResults(hostile)))
    for (const line of log.trimEnd().split('\n')) expect(line).toMatch(/^::(error|warning) title=assay [^:,]*::/)
    expect(log.trimEnd().split('\n')).toHaveLength(3)
    expect(`${log}${summary}`).not.toMatch(/(?!\n)[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u)
    expect(`${log}${summary}`.length).toBeLessThan(100_000)
    const markup = summary
      .replaceAll('<code>', '')
      .replaceAll('</code>', '')
      .replaceAll('<!-- -->', '')
      .replaceAll('<br>', '')
    expect(markup).not.toMatch(/[<>`*[\]@\\]|https?:|www\./)
    const rows = summary.split('\n').filter((line) => line.startsWith('|'))
    for (const row of rows) expect(row.split('|')).toHaveLength(6)
  })
})

describe('stale expected failures on GitHub', () => {
  test.each([
    [false, 'warning'],
    [true, 'error'],
  ])('strict: %s makes them one %s', async (strict, level) => {
    const results = [sampleResult()]
    const stale = [
      { id: 'gone/*', place: 'f.yaml:9' },
      { id: 'x\n::error::y', place: 'f.yaml:12' },
    ]
    const summary = { ...sampleHeader(results).summary!, stale }
    const { log, summary: page } = await report(replayEvents(results, { summary, options: { strict } }))
    const text = '2 match no case of the whole plan; mend or remove them'
    expect(log).toBe(`::${level} title=assay stale expected failures::${text}; the first: f.yaml:9 gone/*\n`)
    expect(page).toContain('> ⚠️ stale expected failures: 2 match no case of the whole plan')
  })
})
