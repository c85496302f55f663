import { describe, expect, test, vi } from 'vitest'
import type { RunEvent } from '../domain/run.ts'
import { displayWidth } from '../domain/text.ts'
import { TerminalReporter } from './terminal.ts'
import { report } from './testing/report.ts'
import {
  allVerdicts,
  FOLDER,
  failedResult,
  HOSTILE,
  hostileResults,
  inconclusiveResult,
  KeptStream,
  replayEvents,
  sampleContext,
  sampleHeader,
} from './testing/sample-run.ts'

describe('widths', () => {
  test('a failure block on 40 columns', () => {
    const stream = new KeptStream(40, true)
    expect(report(replayEvents([failedResult, inconclusiveResult]), stream, { color: false })).toMatchInlineSnapshot(`
      "2 cases · run 01JD3Z8Q6V4T9X2M5N7P0R1S3T
      ✗ fail   silero_vad/f…mium:webgpu  250ms
      ? inconclusive  moonshin…web:wasm  500ms

      ? INCONCLUSIVE  moonshine/encoder/full_model@ort-web:wasm  500ms
        why        over tolerance but inside
                   what roundings do to the
                   reference
        flags      sensitive
        compared   1 of 1
        output     hidden  float32 (1, 40, 288)  ? inconclusive
          rule       |t − r| ≤ 1e-3·|r| +
                     1e-4·max|r| and relL2 ≤
                     1e-4
          mismatches 0 of 1 (allowed 0)
          measured   relL2 0.031 > limit 1e-4
        noise      hidden moves by relL2
                   0.0374, max error 0.81 when
                   the reference is disturbed
                   (most by input nudged by
                   one ulp; 8 samples; 1.5
                   times that counts as
                   sensitive)
        ran        reference: version
                   onnxruntime-node 1.30.0
                   target: version
                   onnxruntime-web 1.30.0
        reproduce  assay test models -k 'moonshine/encoder/full_model@ort-web:wasm'

      ✗ FAIL  silero_vad/full_model@chromium:webgpu  250ms
        why        output "prob" differs
        compared   2 of 2
        metric     cosine not measured: one
                   element has no direction
        output     prob  float32 (1, 1)  ✗ fail
          rule       |t − r| ≤ 1e-3·|r| +
                     1e-4·max|r| and relL2 ≤
                     1e-4
          mismatches 1 of 1 (allowed 0)
          measured   relL2 0.6247 > limit 1e-4
                     · maxAbs 0.5779 · maxUlp
                     1.153e7
          would pass rtol 0.6247 at scale 0
          worst      [0, 0] reference 0.9251,
                     target 0.3472, error
                     0.5779, allowed 0.001018
        outputs    others: 1 passed
        ran        reference: version
                   onnxruntime-node 1.30.0
                   target: version
                   onnxruntime-web 1.30.0
        files      target.safetensors  .assay/runs/01JD3Z8Q6V4T9X2M5N7P0R1S3T/artifacts/9f3c2e1a  3.4 KiB
        reproduce  assay test models -k 'silero_vad/full_model@chromium:webgpu'

      [1] chromium:webgpu
      [2] ort-web:wasm
      model              [1]  [2]
      silero_vad         ✗    -
      moonshine/encoder  -    ?
      ✗ fail  ? inconclusive

      stage    total  count    mean     min
      compile  1.21s      4   303ms    95ms
      run       1:38      8  12.30s  31.5ms
      compare  3.2ms      8   0.4ms   0.1ms

      flags: sensitive 1

      record: .assay/runs/01JD3Z8Q6V4T9X2M5N7P0R1S3T
      1 failed, 1 inconclusive in 140.35s (0:02:20)
      "
    `)
  })

  test.each([40, 80, 200])('nothing but ids, commands and paths is wider than %i columns', (columns) => {
    const stream = new KeptStream(columns, true)
    const text = report(replayEvents(allVerdicts), stream, { color: false })
    const wide = text.split('\n').filter((line) => displayWidth(line) > columns)
    const copied = /^ {2}(reproduce|files|output) |^[✗!?X] [A-Z]+ {2}|^\d+ passed|^record: /
    expect(wide.filter((line) => !copied.test(line))).toEqual([])
  })
})

describe('colours and signs', () => {
  const red = '\u001b[31m✗ FAIL\u001b[0m'

  test.each([
    ['a terminal', true, {}, undefined, true],
    ['no terminal', false, {}, undefined, false],
    ['a dumb terminal', true, { TERM: 'dumb' }, undefined, false],
    ['NO_COLOR', true, { NO_COLOR: '1' }, undefined, false],
    ['an empty NO_COLOR', true, { NO_COLOR: '' }, undefined, true],
    ['FORCE_COLOR over NO_COLOR', false, { FORCE_COLOR: '1', NO_COLOR: '1' }, undefined, true],
    ['FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, undefined, false],
    ['--no-color over FORCE_COLOR', true, { FORCE_COLOR: '1' }, false, false],
    ['--color over NO_COLOR', false, { NO_COLOR: '1' }, true, true],
  ])('%s', (_name, isTTY, env, color, painted) => {
    const change = color === undefined ? { env } : { env, color }
    const text = report(replayEvents([failedResult]), new KeptStream(80, isTTY), change)
    expect(text.includes(red)).toBe(painted)
    expect(/\u001b\[[0-9;]*m/.test(text)).toBe(painted)
  })

  test('signs that grow in ASCII do not make lines too wide', () => {
    const stream = new KeptStream(70, true)
    const text = report(replayEvents(allVerdicts), stream, { color: false, env: { LANG: 'C' } })
    const lines = text.split('\n').filter((line) => /^[FEX?] [a-z]/.test(line))
    expect(lines).toHaveLength(4)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(70)
  })

  test.each([{ LANG: 'C' }, { LC_ALL: 'POSIX', LANG: 'en_US.UTF-8' }, { TERM: 'linux' }])(
    'plain ASCII with %j',
    (env) => {
      const text = report(replayEvents(allVerdicts), new KeptStream(), { env })
      expect(text).toMatch(/^[\n -~]*$/)
      expect(text).toContain('F FAIL  silero_vad/full_model@chromium:webgpu')
      expect(text).toContain('|t - r| <= 1e-3*|r| + 1e-4*max|r|')
    },
  )
})

describe('hostile names', () => {
  test.each(HOSTILE.map((text) => [text.slice(0, 60), text]))('%j stays inert', (_shown, hostile) => {
    for (const columns of [0, 40, 80]) {
      const stream = new KeptStream(columns, columns > 0)
      const events: RunEvent[] = [{ type: 'notice', text: hostile }, ...replayEvents(hostileResults(hostile))]
      const text = report(events, stream, { color: false, verbose: true })
      expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      expect(text).not.toMatch(/^\s*::/m)
      expect(text).not.toMatch(/##[a-z]*\[/i)
      expect(text.length).toBeLessThan(100_000)
    }
  })

  test('a running case with a hostile name cannot steer the terminal', () => {
    vi.useFakeTimers()
    for (const hostile of HOSTILE) {
      const stream = new KeptStream(80, true)
      const reporter = new TerminalReporter(stream, sampleContext(stream, { color: false }))
      reporter.onEvent({ type: 'run-start', run: sampleHeader([failedResult]), folder: FOLDER })
      reporter.onEvent({ type: 'step-start', id: hostile, title: hostile, stage: 'run' })
      vi.advanceTimersByTime(100)
      expect(stream.text).toContain('0/1')
      expect(stream.text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/u)
    }
    vi.useRealTimers()
  })
})
