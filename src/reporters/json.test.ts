import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../domain/run.ts'
import { JsonReporter } from './json.ts'
import { allVerdicts, HOSTILE, hostileResults, inconclusiveResult, replayEvents } from './testing/sample-run.ts'

async function document(events: readonly RunEvent[]): Promise<string> {
  const chunks: string[] = []
  const reporter = new JsonReporter(async (made) => {
    chunks.push(...made)
  })
  for (const event of events) await reporter.onEvent(event)
  return chunks.join('')
}

describe('json', () => {
  test('one document with schema, run, results and summary, and nothing before the end', async () => {
    const events = replayEvents(allVerdicts)
    expect(await document(events.slice(0, -1))).toBe('')
    const parsed = JSON.parse(await document(events))
    expect(Object.keys(parsed)).toEqual(['schema', 'run', 'results', 'summary'])
    expect(parsed.schema).toBe('assay/run@1')
    expect(parsed.run.id).toBe('01JD3Z8Q6V4T9X2M5N7P0R1S3T')
    expect(parsed.results.map((result: { verdict: string }) => result.verdict)).toEqual(
      allVerdicts.map((result) => result.verdict),
    )
    expect(parsed.summary.counts.fail).toBe(1)
    expect(parsed.summary.exitCode).toBe(1)
  })

  test('NaN stays NaN and a missing measurement stays null', async () => {
    const parsed = JSON.parse(await document(replayEvents([inconclusiveResult, ...allVerdicts])))
    expect(parsed.results[0].metrics[0].value).toBe('NaN')
    expect(parsed.results[7].metrics[1]).toMatchObject({ value: null, reason: 'one element has no direction' })
  })

  test('a run without results is a document too', async () => {
    const parsed = JSON.parse(await document(replayEvents([], { summary: null })))
    expect(parsed).toMatchObject({ results: [], summary: null })
  })

  test.each(HOSTILE.map((text) => [text.slice(0, 60), text]))(
    '%j is the same value, but inert to look at',
    async (_shown, hostile) => {
      const results = hostileResults(hostile)
      const text = await document(replayEvents(results))
      expect(JSON.parse(text).results).toEqual(JSON.parse(JSON.stringify(results)))
      expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      expect(text).not.toMatch(/^\s*::/m)
      expect(text).not.toMatch(/##[a-z]*\[/i)
    },
  )
})
