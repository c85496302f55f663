import { describe, expect, test } from 'vitest'
import type { Result } from '../domain/result.ts'
import type { RunEvent, RunHeader } from '../domain/run.ts'
import { report } from './testing/report.ts'
import {
  allVerdicts,
  erredResult,
  expectedResult,
  failedResult,
  KeptStream,
  replayEvents,
  sampleHeader,
  sampleResult,
} from './testing/sample-run.ts'

describe('a run replayed into a log', () => {
  test('shows every case, what has to be looked at, and ends with the counts', () => {
    expect(report(replayEvents(allVerdicts))).toMatchInlineSnapshot(`
      "8 cases · run 01JD3Z8Q6V4T9X2M5N7P0R1S3T
      [1/8] ✓ pass   silero_vad/full_model@ort-web:wasm  250ms
      [2/8] ○ skip   ppocr/det/full_model@ort-web:wasm  500ms  dtype float8e8m0 is not listed by the worker
      [3/8] x xfail  ppocr/rec/full_model@ort-web:wasm  750ms  known: onnxruntime#29651
      [4/8] X xpass  ppocr/cls/full_model@ort-web:wasm  1.00s  expected to fail: onnxruntime#29651
      [5/8] ● captured  ppocr/new/full_model@ort-web:wasm  1.25s  snapshot written
      [6/8] ? inconclusive  moonshine/encoder/full_model@ort-web:wasm  1.50s  over tolerance but inside what roundings do to the reference
      [7/8] ✗ fail   silero_vad/full_model@chromium:webgpu  1.75s  output "prob" differs
      [8/8] ! error  test_cast_FLOAT16_to_UINT4/full_model@ort:cpu,optimization=disabled  2.00s  run on the target: the worker died, and again when the case ran alone (SIGABRT)

      ? INCONCLUSIVE  moonshine/encoder/full_model@ort-web:wasm  1.50s
        why        over tolerance but inside what roundings do to the reference
        flags      sensitive
        compared   1 of 1
        output     hidden  float32 (1, 40, 288)  ? inconclusive
          rule       |t − r| ≤ 1e-3·|r| + 1e-4·max|r| and relL2 ≤ 1e-4
          mismatches 0 of 1 (allowed 0)
          measured   relL2 0.031 > limit 1e-4
        noise      hidden moves by relL2 0.0374, max error 0.81 when the reference is disturbed (most by input nudged by one ulp; 8 samples; 1.5 times that counts as sensitive)
        ran        reference: version onnxruntime-node 1.30.0
                   target: version onnxruntime-web 1.30.0
        reproduce  assay test models -k 'moonshine/encoder/full_model@ort-web:wasm'

      X XPASS  ppocr/cls/full_model@ort-web:wasm  1.00s
        why        expected to fail: onnxruntime#29651
        compared   1 of 1
        outputs    1 passed
        ran        reference: version onnxruntime-node 1.30.0
                   target: version onnxruntime-web 1.30.0
        reproduce  assay test models -k 'ppocr/cls/full_model@ort-web:wasm'

      ! ERROR  test_cast_FLOAT16_to_UINT4/full_model@ort:cpu,optimization=disabled  2.00s
        why        run on the target: the worker died, and again when the case ran alone (SIGABRT)
        flags      retried
        compared   0 of 1
        tool       onnxruntime-node
        command    node "ort worker.js"
        printed
          | loading
          | terminate called after throwing an instance of 'Ort::Exception'
          |   what():  Cast
        ran        reference: version onnxruntime-node 1.30.0
                   target: version onnxruntime-web 1.30.0
        reproduce  assay test models -k 'test_cast_FLOAT16_to_UINT4/full_model@ort:cpu,optimization=disabled'

      ✗ FAIL  silero_vad/full_model@chromium:webgpu  1.75s
        why        output "prob" differs
        compared   2 of 2
        metric     cosine not measured: one element has no direction
        output     prob  float32 (1, 1)  ✗ fail
          rule       |t − r| ≤ 1e-3·|r| + 1e-4·max|r| and relL2 ≤ 1e-4
          mismatches 1 of 1 (allowed 0)
          measured   relL2 0.6247 > limit 1e-4 · maxAbs 0.5779 · maxUlp 1.153e7
          would pass rtol 0.6247 at scale 0
          worst at  reference  target   error   allowed
          [0, 0]       0.9251  0.3472  0.5779  0.001018
        outputs    others: 1 passed
        ran        reference: version onnxruntime-node 1.30.0
                   target: version onnxruntime-web 1.30.0
        files      target.safetensors  .assay/runs/01JD3Z8Q6V4T9X2M5N7P0R1S3T/artifacts/9f3c2e1a  3.4 KiB
        reproduce  assay test models -k 'silero_vad/full_model@chromium:webgpu'

      model                       ort-web:wasm  chromium:webgpu  ort:cpu,optimization=disabled
      silero_vad                  ✓             ✗                -
      ppocr/det                   ○             -                -
      ppocr/rec                   x             -                -
      ppocr/cls                   X             -                -
      ppocr/new                   ●             -                -
      moonshine/encoder           ?             -                -
      test_cast_FLOAT16_to_UINT4  -             -                !
      ✓ pass  ✗ fail  ! error  ? inconclusive  ● captured  ○ skip  x xfail  X xpass

      stage    total  count    mean     min
      compile  1.21s      4   303ms    95ms
      run       1:38      8  12.30s  31.5ms
      compare  3.2ms      8   0.4ms   0.1ms

      slowest cases
        2.00s  test_cast_FLOAT16_to_UINT4/full_model@ort:cpu,optimization=disabled
        1.75s  silero_vad/full_model@chromium:webgpu
        1.50s  moonshine/encoder/full_model@ort-web:wasm
        1.25s  ppocr/new/full_model@ort-web:wasm

      ○ 1 skipped: dtype float8e8m0 is not listed by the worker
      flags: sensitive 1, retried 1

      record: .assay/runs/01JD3Z8Q6V4T9X2M5N7P0R1S3T
      1 passed, 1 failed, 1 error, 1 inconclusive, 1 captured, 1 skipped, 1 xfailed, 1 xpassed in 140.35s (0:02:20)
      "
    `)
  })

  test('a passing run on one target is short', () => {
    expect(report(replayEvents([sampleResult()]))).toMatchInlineSnapshot(`
      "1 case · run 01JD3Z8Q6V4T9X2M5N7P0R1S3T
      [1/1] ✓ pass   silero_vad/full_model@ort-web:wasm  250ms

      stage    total  count    mean     min
      compile  1.21s      4   303ms    95ms
      run       1:38      8  12.30s  31.5ms
      compare  3.2ms      8   0.4ms   0.1ms

      record: .assay/runs/01JD3Z8Q6V4T9X2M5N7P0R1S3T
      1 passed in 140.35s (0:02:20)
      "
    `)
  })

  test('a case that passes on inputs that were found by trying says how to fix them', () => {
    const reason = 'the reference refuses seq=16; found by trying: --dim seq=128'
    const silent = sampleResult({ verdict: 'pass', reason })
    const said = sampleResult({ verdict: 'pass', reason, flags: ['inputs-found'] })
    expect(report(replayEvents([silent]))).not.toContain('--dim')
    expect(report(replayEvents([said]))).toContain(`  ${reason}\n`)
  })

  test('verbose shows every case in full', () => {
    expect(report(replayEvents([sampleResult()]), new KeptStream(), { verbose: true })).toMatchInlineSnapshot(`
      "1 case · run 01JD3Z8Q6V4T9X2M5N7P0R1S3T
      [1/1] ✓ pass   silero_vad/full_model@ort-web:wasm  250ms

      ✓ PASS  silero_vad/full_model@ort-web:wasm  250ms
        compared   1 of 1
        output     prob  float32 (1, 1)  ✓ pass
          rule       |t − r| ≤ 1e-3·|r| + 1e-4·max|r| and relL2 ≤ 1e-4
          mismatches 0 of 1 (allowed 0)
          measured   relL2 2.4e-7 ≤ limit 1e-4 · maxAbs 2.2e-7
        ran        reference: version onnxruntime-node 1.30.0
                   target: version onnxruntime-web 1.30.0
        reproduce  assay test models -k 'silero_vad/full_model@ort-web:wasm'

      stage    total  count    mean     min
      compile  1.21s      4   303ms    95ms
      run       1:38      8  12.30s  31.5ms
      compare  3.2ms      8   0.4ms   0.1ms

      slowest cases
        250ms  silero_vad/full_model@ort-web:wasm

      record: .assay/runs/01JD3Z8Q6V4T9X2M5N7P0R1S3T
      1 passed in 140.35s (0:02:20)
      "
    `)
  })
})

describe('what is not as it should be', () => {
  test('a run stopped after failures says so although its state is complete', () => {
    const problem = 'stopped after 1 failures; 7 cases were not judged'
    const events = replayEvents([failedResult], { problem })
    expect(report(events)).toContain('incomplete: stopped after 1 failures; 7 cases were not judged; 1 of 1 cases')
  })

  test('a notice reaches a terminal before the run starts and after it ended', () => {
    const stream = new KeptStream(80, true)
    const notice = (text: string): RunEvent => ({ type: 'notice', text })
    report([notice('installing ort'), ...replayEvents([]), notice('reporter 2 failed')], stream, { color: false })
    expect(stream.writes[0]).toBe('installing ort\n')
    expect(stream.writes.at(-1)).toBe('reporter 2 failed\n')
  })

  test('of very many cases to look at each has a line and the last ones a block, failures before errors', () => {
    const fails = Array.from({ length: 30 }, (_, i) => ({ ...failedResult, id: `fail ${i}` }))
    const errors = Array.from({ length: 30 }, (_, i) => ({ ...erredResult, id: `error ${i}` }))
    const text = report(replayEvents([...fails, ...errors]))
    expect(text).toContain('20 more cases to look at are only listed above; -v shows them in full')
    expect(text.match(/^✗ FAIL/gm)).toHaveLength(30)
    expect(text.match(/^! ERROR/gm)).toHaveLength(10)
    expect(text.match(/^\[.*(fail|error) \d+ /gm)).toHaveLength(60)
  })

  test('more than a few failures are listed once more at the end, but for layers, which have a list', () => {
    const failed = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ ...failedResult, id: `m${i}/full_model` }))
    const listOf = (results: readonly Result[], change: Partial<RunHeader> = {}) =>
      report(replayEvents([sampleResult(), ...results], change))
        .split('\n\n')
        .filter((part) => part.startsWith('failed cases'))
    expect(listOf(failed(3))).toEqual([])
    expect(listOf([...failed(3), erredResult])).toEqual([
      ['failed cases', ...failed(3).map(({ id }) => `  ✗ ${id}`), `  ! ${erredResult.id}`].join('\n'),
    ])
    expect(listOf(failed(12))[0]).toMatch(/\n {2}✗ m9\/full_model\n {2}and 2 more$/)
    const layers = failed(9).map((result, place) => ({ ...result, part: { of: 'm/full_model', op: 'Conv', place } }))
    expect(listOf(layers)).toEqual([])
    const doubtful = failed(4).map((result) => ({ ...result, verdict: 'inconclusive' as const }))
    expect([listOf(doubtful).length, listOf(doubtful, { options: { strict: true } }).length]).toEqual([0, 1])
  })

  test('an interrupted run says how many cases have a result', () => {
    const [start, , ...rest] = replayEvents([sampleResult(), failedResult], { state: 'interrupted' })
    const events = [start!, ...rest].map((event) =>
      event.type === 'run-end' ? { ...event, results: [failedResult] } : event,
    )
    expect(report(events)).toMatch(/interrupted; 1 of 2 cases have a result\n.*\n1 failed in 140\.35s/)
  })

  test('a run that was killed has no duration and says that it did not end', () => {
    const text = report(replayEvents([sampleResult()], { state: 'running', summary: null }))
    expect(text).toMatch(/incomplete: the run did not end; 1 of 1 cases have a result\n.*\n1 passed\n$/)
  })

  test('a run that failed as a whole says why', () => {
    const text = report(replayEvents([], { state: 'failed', problem: 'the disk is full' }))
    expect(text).toMatch(/failed: the disk is full; 0 of 0 cases.*\n.*\nno cases judged in/)
  })

  test('NaN, a value just over its limit and a missing measurement are three different things', () => {
    const metric = failedResult.metrics[0]!
    const metrics = [
      { ...metric, value: Number.NaN },
      { ...metric, name: 'rmse', value: 1.0000001e-4 },
      { ...metric, name: 'cosine', value: null, reason: 'the reference is all zero' },
    ]
    const text = report(replayEvents([{ ...failedResult, metrics, outputs: [] }]))
    expect(text).toContain('relL2 NaN is not ≤ limit 1e-4')
    expect(text).toContain('rmse 1.0000001e-4 > limit 1e-4')
    expect(text).toContain('cosine not measured: the reference is all zero')
  })

  test('a fail without any reason says so instead of nothing', () => {
    const { reason: _reason, ...bare } = failedResult
    expect(report(replayEvents([{ ...bare, metrics: [], outputs: [] }]))).toContain('why        no reason recorded')
  })

  test('what a tool printed is cut to its last lines', () => {
    const stderr = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n')
    const text = report(replayEvents([{ ...erredResult, error: { ...erredResult.error!, stderr } }]))
    expect(text).toContain('    | … 20 earlier lines\n    | line 20\n')
    expect(text).not.toContain('line 19')
  })

  test('a command too long to be one is not printed in part', () => {
    const text = report(replayEvents([{ ...failedResult, reproduce: `assay test ${'x'.repeat(9000)}` }]))
    expect(text).toContain("reproduce  not printed, 9011 characters long; it is in the run's results.jsonl")
  })
})

describe('expected failures on a terminal', () => {
  const xfail = expectedResult('vad', { issue: 'https://example.com/7' })
  const different = sampleResult({
    ...erredResult,
    reason: 'expected: fail; found: error at run on the target (f.yaml:3)',
  })

  test('have no block unless all is shown, then with their entry', () => {
    const text = report(replayEvents([xfail]))
    expect(text).not.toContain('XFAIL')
    expect(text).toContain('\nexpected failures: 1\n')
    expect(text).toMatch(/1 xfailed in /)
    const verbose = report(replayEvents([xfail]), new KeptStream(), { verbose: true })
    expect(verbose).toContain('x XFAIL  vad/full_model@chromium:webgpu')
    expect(verbose).toContain('  expected   fail (assay.expected.yaml:3, https://example.com/7)')
    expect(verbose).toContain('  why        prob: 1 of 1 values are over the limit')
  })

  test('an error that was expected to be something else says so first', () => {
    expect(report(replayEvents([different]))).toContain(
      'expected: fail; found: error at run on the target (f.yaml:3); run on the target: the worker died',
    )
  })

  test('stale ones are listed', () => {
    const results = [sampleResult()]
    const summary = { ...sampleHeader(results).summary!, stale: [{ id: 'gone/*', place: 'f.yaml:9' }] }
    expect(report(replayEvents(results, { summary }))).toContain(
      'stale entries: 1 matches no case of the whole plan; mend or remove it\n  f.yaml:9  gone/*\n',
    )
  })
})
