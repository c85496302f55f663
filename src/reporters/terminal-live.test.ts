import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { displayWidth } from '../domain/text.ts'
import type { ReporterContext } from './context.ts'
import { TerminalReporter } from './terminal.ts'
import { FOLDER, failedResult, KeptStream, sampleContext, sampleHeader, sampleResult } from './testing/sample-run.ts'

describe('a run watched on a terminal', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  function watch(columns: number, change: Partial<ReporterContext> = {}) {
    const stream = new KeptStream(columns, true)
    const reporter = new TerminalReporter(stream, sampleContext(stream, { color: false, ...change }))
    const results = Array.from({ length: 12 }, (_, i) => sampleResult({ scope: `layer_Conv_${i}` }))
    const run = sampleHeader(results)
    reporter.onEvent({ type: 'run-start', run, folder: FOLDER })
    const finish = (i: number) =>
      reporter.onEvent({ type: 'case-end', result: results[i]!, durationMs: 900, done: i + 1, total: results.length })
    return { stream, reporter, results, run, finish }
  }

  test('draws what is done, what runs and when it will end', () => {
    const { stream, reporter, results, finish } = watch(80)
    reporter.onEvent({ type: 'case-start', id: results[0]!.id })
    reporter.onEvent({ type: 'step-start', id: results[0]!.id, title: 'compile on ort-web:wasm', stage: 'compile' })
    vi.advanceTimersByTime(3000)
    finish(0)
    reporter.onEvent({ type: 'case-start', id: results[1]!.id })
    finish(1)
    reporter.onEvent({ type: 'case-start', id: results[2]!.id })
    reporter.onEvent({ type: 'step-start', id: results[2]!.id, title: 'run the reference', stage: 'run' })
    vi.advanceTimersByTime(2000)
    expect(stream.writes[0]).toBe('12 cases · run 01JD3Z8Q6V4T9X2M5N7P0R1S3T\n')
    expect(stream.writes[1]).toBe(
      '0/12  0:00:00\n  silero_vad/layer_Conv_0@ort-web:wasm  compile on ort-web:wasm  0s\n',
    )
    expect(stream.writes.at(-1)).toBe(
      '\u001b[2A\r\u001b[0J2/12  ✓ 2  0:00:05 · ETA 0:00:25\n  silero_vad/layer_Conv_2@ort-web:wasm  run the reference  2s\n',
    )
  })

  test('what runs has all the room that its name leaves', () => {
    const { stream, reporter, results } = watch(110)
    const { id } = results[0]!
    reporter.onEvent({ type: 'case-start', id })
    reporter.onEvent({ type: 'step-start', id, title: 'gather spirals', stage: 'run' })
    reporter.onEvent({ type: 'step-progress', id, text: 'step 131, 30 windows, no accuracy yet' })
    vi.advanceTimersByTime(1000)
    expect(stream.text).toContain(`${id}  gather spirals · step 131, 30 windows, no accuracy yet  1s`)
  })

  test('redraws ten times a second at most, however fast cases end', () => {
    const { stream, finish } = watch(80)
    for (let i = 0; i < 12; i++) finish(i)
    vi.advanceTimersByTime(1000)
    expect(stream.writes.length).toBeLessThanOrEqual(10)
  })

  test('a line that cannot wait stays above what is drawn; where nothing is drawn it is left to others', () => {
    const { stream, reporter, results, run } = watch(80)
    reporter.onEvent({ type: 'case-start', id: results[0]!.id })
    vi.advanceTimersByTime(200)
    expect(reporter.say('interrupted: finishing running cases')).toBe(true)
    vi.advanceTimersByTime(1000)
    expect(screenOf(stream)).toMatch(/interrupted: finishing running cases\n0\/12/)
    reporter.onEvent({ type: 'run-end', run, results, folder: FOLDER })
    expect(reporter.say('later')).toBe(false)
    const plain = watch(80, { plain: true })
    expect(plain.reporter.say('interrupted')).toBe(false)
  })

  test('is gone when the run has ended', () => {
    const { stream, reporter, results, run, finish } = watch(80)
    finish(0)
    vi.advanceTimersByTime(200)
    expect(screenOf(stream)).toContain('1/12  ✓ 1')
    reporter.onEvent({ type: 'run-end', run, results, folder: FOLDER })
    expect(screenOf(stream)).not.toContain('1/12')
    expect(screenOf(stream)).toMatch(/12 passed in 140\.35s \(0:02:20\)\n$/)
    const { length } = stream.writes
    vi.advanceTimersByTime(120_000)
    expect(stream.writes.length).toBe(length)
  })

  test('a case to look at stays above the block as soon as it is known', () => {
    const { stream, reporter } = watch(80)
    reporter.onEvent({ type: 'case-end', result: failedResult, durationMs: 1750, done: 1, total: 12 })
    vi.advanceTimersByTime(100)
    expect(screenOf(stream)).toContain('✗ fail   silero_vad/full_model@chromium:webgpu  1.75s')
  })

  test.each([40, 80, 200])('no line of the block is wider than %i columns, whatever the names', (columns) => {
    const { stream, reporter } = watch(columns)
    for (let i = 0; i < 20; i++) {
      const id = `${'大きいモデル'.repeat(20)}/full_model@target_${i}`
      reporter.onEvent({ type: 'case-start', id })
      reporter.onEvent({ type: 'step-start', id, title: 'compile '.repeat(30), stage: 'compile' })
    }
    vi.advanceTimersByTime(100)
    const lines = screenOf(stream).split('\n')
    expect(lines).toHaveLength(1 + 1 + 8 + 1 + 1)
    for (const line of lines.slice(1)) expect(displayWidth(line)).toBeLessThan(columns)
  })

  test('a terminal made narrower is cleared of what it wrapped', () => {
    const { stream, reporter, results } = watch(80)
    reporter.onEvent({ type: 'case-start', id: results[0]!.id })
    vi.advanceTimersByTime(100)
    stream.columns = 20
    vi.advanceTimersByTime(1000)
    expect(stream.writes[2]).toMatch(/^\u001b\[4A/)
  })

  test('a log gets a line a minute that names what runs', () => {
    const stream = new KeptStream()
    const reporter = new TerminalReporter(stream, sampleContext(stream))
    reporter.onEvent({ type: 'run-start', run: sampleHeader([failedResult]), folder: FOLDER })
    reporter.onEvent({ type: 'case-start', id: failedResult.id })
    reporter.onEvent({ type: 'step-start', id: failedResult.id, title: 'compile', stage: 'compile' })
    vi.advanceTimersByTime(119_000)
    expect(stream.writes.slice(1)).toEqual([
      '0/1 done after 0:01:00; running: silero_vad/full_model@chromium:webgpu (compile, 1:00)\n',
    ])
  })

  test('how far a step is stands beside it until the next begins', () => {
    const stream = new KeptStream()
    const reporter = new TerminalReporter(stream, sampleContext(stream))
    const { id } = failedResult
    reporter.onEvent({ type: 'run-start', run: sampleHeader([failedResult]), folder: FOLDER })
    reporter.onEvent({ type: 'case-start', id })
    reporter.onEvent({ type: 'step-start', id, title: 'gather', stage: 'run' })
    reporter.onEvent({ type: 'step-progress', id, text: 'step 31, 3 windows' })
    vi.advanceTimersByTime(60_000)
    expect(stream.text).toContain('(gather · step 31, 3 windows, 1:00)')
    reporter.onEvent({ type: 'step-start', id, title: 'compare', stage: 'compare' })
    vi.advanceTimersByTime(60_000)
    expect(stream.text).toContain('(compare, 1:00)')
  })

  test.each([{ CI: 'true' }, { TERM: 'dumb' }])('nothing is drawn anew with %j', (env) => {
    const { stream, finish } = watch(80, { env })
    finish(0)
    vi.advanceTimersByTime(1000)
    expect(stream.text).toContain('[ 1/12] ✓ pass ')
    expect(stream.text).not.toContain('\u001b')
  })
})

/** What a person sees: the erased parts are gone. */
function screenOf(stream: KeptStream): string {
  let lines: string[] = []
  for (const write of stream.writes) {
    const [, up = '0', text = ''] = /^(?:\u001b\[(\d+)A\r\u001b\[0J)?(.*)$/s.exec(write)!
    lines = [...lines.slice(0, lines.length - Number(up)), ...text.split('\n').slice(0, -1)]
  }
  return `${lines.join('\n')}\n`
}
