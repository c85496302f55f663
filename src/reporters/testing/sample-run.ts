import type { ExpectedFailure } from '../../domain/expected-failure.ts'
import type { Metric, OutputResult, Result } from '../../domain/result.ts'
import { RUN_SCHEMA, type RunEvent, type RunHeader } from '../../domain/run.ts'
import { chooseExitCode, countVerdicts } from '../../domain/verdict.ts'
import type { ReporterContext, TextStream } from '../context.ts'

const relL2: Metric = {
  name: 'relL2',
  direction: 'lower',
  value: 2.4e-7,
  threshold: 1e-4,
  provenance: 'fp32 whole model, built-in table',
  count: 1,
}

const passedOutput: OutputResult = {
  name: 'prob',
  dtype: 'float32',
  shape: [1, 1],
  verdict: 'pass',
  rule: '|t − r| ≤ 1e-3·|r| + 1e-4·max|r| and relL2 ≤ 1e-4',
  flags: [],
  metrics: [relL2, { name: 'maxAbs', direction: 'lower', value: 2.2e-7, count: 1 }],
  mismatches: { count: 0, of: 1, allowed: 0 },
  worst: [],
}

export function sampleResult(change: Partial<Result> = {}): Result {
  const { model = 'silero_vad', scope = 'full_model', target = 'ort-web:wasm' } = change
  const id = `${model}/${scope}@${target}`
  return {
    id,
    suite: 'onnx',
    model,
    scope,
    reference: 'ort:cpu',
    target,
    verdict: 'pass',
    flags: [],
    coverage: { compared: 1, expected: 1 },
    metrics: [relL2],
    outputs: [passedOutput],
    worst: [],
    measurements: { 'reference.version': 'onnxruntime-node 1.30.0', 'target.version': 'onnxruntime-web 1.30.0' },
    durationsMs: { run: 31.5, compare: 0.4 },
    steps: [],
    artifacts: [],
    reproduce: `assay test models -k '${id}'`,
    ...change,
  }
}

export const failedResult = sampleResult({
  target: 'chromium:webgpu',
  verdict: 'fail',
  reason: 'output "prob" differs',
  metrics: [
    { ...relL2, value: 0.62469 },
    { name: 'cosine', direction: 'higher', value: null, reason: 'one element has no direction', count: 0 },
  ],
  outputs: [
    {
      ...passedOutput,
      verdict: 'fail',
      metrics: [
        { ...relL2, value: 0.62469 },
        { name: 'maxAbs', direction: 'lower', value: 0.5779, count: 1 },
        { name: 'maxUlp', direction: 'lower', value: 11_534_336, count: 1 },
      ],
      mismatches: { count: 1, of: 1, allowed: 0 },
      wouldPass: 'rtol 0.6247 at scale 0',
      worst: [
        { tensor: 'prob', index: [0, 0], reference: '0.9251', target: '0.3472', error: 0.5779, allowed: 0.0010176 },
      ],
    },
    { ...passedOutput, name: 'stateN', shape: [2, 1, 128] },
  ],
  coverage: { compared: 2, expected: 2 },
  artifacts: [{ name: 'target.safetensors', path: 'artifacts/9f3c2e1a', bytes: 3481, sha256: '9f3c2e1a' }],
})

export const erredResult = sampleResult({
  model: 'test_cast_FLOAT16_to_UINT4',
  target: 'ort:cpu,optimization=disabled',
  verdict: 'error',
  error: {
    stage: 'run',
    side: 'target',
    message: 'the worker died, and again when the case ran alone',
    signal: 'SIGABRT',
    tool: 'onnxruntime-node',
    argv: ['node', 'ort worker.js'],
    stderr:
      "loading\n\u001b[31mterminate called\u001b[0m after throwing an instance of 'Ort::Exception'\n  what():  Cast\n",
  },
  flags: ['retried'],
  coverage: { compared: 0, expected: 1 },
  metrics: [],
  outputs: [],
})

export const inconclusiveResult = sampleResult({
  model: 'moonshine/encoder',
  verdict: 'inconclusive',
  reason: 'over tolerance but inside what roundings do to the reference',
  flags: ['sensitive'],
  metrics: [{ ...relL2, value: Number.NaN }],
  outputs: [
    {
      ...passedOutput,
      name: 'hidden',
      shape: [1, 40, 288],
      verdict: 'inconclusive',
      metrics: [{ ...relL2, value: 0.031 }],
    },
  ],
  band: [{ output: 'hidden', relL2: 0.0374, maxAbs: 0.81, by: 'input nudged by one ulp', samples: 8, margin: 1.5 }],
})

/** One case of every verdict, on several targets. */
export const allVerdicts: readonly Result[] = [
  sampleResult(),
  sampleResult({
    model: 'ppocr/det',
    verdict: 'skip',
    reason: 'dtype float8e8m0 is not listed by the worker',
    outputs: [],
    metrics: [],
  }),
  sampleResult({ model: 'ppocr/rec', verdict: 'xfail', reason: 'known: onnxruntime#29651' }),
  sampleResult({ model: 'ppocr/cls', verdict: 'xpass', reason: 'expected to fail: onnxruntime#29651' }),
  sampleResult({ model: 'ppocr/new', verdict: 'captured', reason: 'snapshot written' }),
  inconclusiveResult,
  failedResult,
  erredResult,
]

/** A result that fails as an entry of the file says. */
export function expectedResult(model: string, entry: Partial<ExpectedFailure> = {}): Result {
  const found = { verdict: 'fail' as const, reason: 'prob: 1 of 1 values are over the limit' }
  const own = sampleResult({ ...failedResult, id: `${model}/full_model@chromium:webgpu`, model })
  const said = { id: own.id, verdict: 'fail' as const, place: 'assay.expected.yaml:3', ...entry }
  return { ...own, verdict: 'xfail', reason: found.reason, expected: { entry: said, outcome: 'met', found } }
}

export function sampleHeader(results: readonly Result[], change: Partial<RunHeader> = {}): RunHeader {
  const counts = countVerdicts(results.map((result) => result.verdict))
  const ids = results.map((result) => result.id)
  return {
    schema: RUN_SCHEMA,
    id: '01JD3Z8Q6V4T9X2M5N7P0R1S3T',
    state: 'complete',
    pid: 4242,
    bootId: 'b00t',
    startedAt: '2026-11-15T10:00:00.000Z',
    heartbeatAt: '2026-11-15T10:02:20.350Z',
    shard: null,
    environment: { node: 'v20.20.2' },
    options: {},
    plan: { digest: 'd1', cases: ids, selected: ids },
    summary: {
      counts,
      durationMs: 140_350,
      stages: {
        compile: { totalMs: 1210, count: 4, meanMs: 302.5, minMs: 95 },
        run: { totalMs: 98_400, count: 8, meanMs: 12_300, minMs: 31.5 },
        compare: { totalMs: 3.2, count: 8, meanMs: 0.4, minMs: 0.1 },
      },
      exitCode: chooseExitCode(counts),
    },
    ...change,
  }
}

export const FOLDER = '.assay/runs/01JD3Z8Q6V4T9X2M5N7P0R1S3T'

/** The events that a stored run is replayed with. */
export function replayEvents(results: readonly Result[], change: Partial<RunHeader> = {}): RunEvent[] {
  const run = sampleHeader(results, change)
  const ends = results.map((result, i): RunEvent => {
    return { type: 'case-end', result, durationMs: 250 * (i + 1), done: i + 1, total: results.length }
  })
  return [{ type: 'run-start', run, folder: FOLDER }, ...ends, { type: 'run-end', run, results, folder: FOLDER }]
}

/** A stream that keeps what was written to it. */
export class KeptStream implements TextStream {
  readonly writes: string[] = []
  readonly isTTY: boolean
  columns: number
  readonly rows = 24

  constructor(columns = 0, isTTY = false) {
    this.columns = columns
    this.isTTY = isTTY
  }

  get text(): string {
    return this.writes.join('')
  }

  write(text: string, done?: (error?: Error | null) => void): boolean {
    this.writes.push(text)
    done?.(null)
    return true
  }
}

export function sampleContext(stdout: TextStream, change: Partial<ReporterContext> = {}): ReporterContext {
  return { cwd: process.cwd(), stdout, stderr: new KeptStream(), env: {}, verbose: false, ...change }
}

/** Names and logs that try to do something (interface spec, S9). */
export const HOSTILE: readonly string[] = [
  '<img src=x onerror=alert(1)>',
  '</script><script>alert(1)</script>',
  'javascript:alert(1)',
  'Q&A &bogus; &#60;script&#62;',
  'data:text/html,<b>x</b>',
  '"onmouseover=alert(1) x="',
  "']]><failure/><![CDATA[",
  'gnp\u202e.exe\u2066',
  '\u001b[2J\u001b]8;;http://evil\u0007click\u001b]8;;\u0007\u001b]52;c;cm0=\u0007',
  '\u009b2J\u009d52;c;cm0=\u009c\u007f\u0000\u0008',
  'x\n::error title=pwned::pwned',
  '::set-output name=a::b',
  'x\r\n::stop-commands::t',
  '##[error]pwned ##vso[task.setvariable]x',
  'a|b`c`**d**[e](http://evil)@user \\| https://evil.example www.evil.example',
  'lone \ud800 \ufffe end',
  `begin${'A'.repeat(1 << 20)}end`,
]

/** A failing and an erring case that carry the text everywhere a model, a tool or a user could have put it. */
export function hostileResults(text: string): Result[] {
  const metric: Metric = { name: text, direction: 'lower', value: 2, threshold: 1, provenance: text, count: 3 }
  const output = {
    ...failedResult.outputs[0]!,
    name: text,
    rule: text,
    reason: text,
    flags: [text],
    metrics: [metric, { name: text, direction: 'lower' as const, value: null, reason: text, count: 0 }],
    wouldPass: text,
    worst: [{ tensor: text, index: [0], reference: text, target: text, error: 1, allowed: 0 }],
  }
  const names = {
    model: text,
    scope: text,
    target: text,
    reference: text,
    suite: text,
    flags: [text],
    sameAs: text,
    reproduce: text,
  }
  const fail = {
    ...names,
    verdict: 'fail' as const,
    reason: text,
    metrics: [metric],
    outputs: [output],
    measurements: { [text]: text },
  }
  const error = {
    stage: 'run' as const,
    side: 'target' as const,
    message: text,
    tool: text,
    argv: [text],
    stderr: text,
    signal: text,
  }
  return [
    sampleResult({
      ...fail,
      artifacts: [{ name: text, path: text.replaceAll('\u0000', ''), bytes: 1, sha256: 'a' }],
      band: [{ output: text, relL2: 1, maxAbs: 1, by: text, samples: 1, margin: 1 }],
    }),
    sampleResult({ ...names, target: `${text}2`, verdict: 'error', error }),
    sampleResult({ ...names, target: `${text}3`, verdict: 'skip', reason: text }),
    sampleResult({ ...names, target: `${text}4`, verdict: 'inconclusive', reason: text }),
    { ...expectedResult(text, { id: text, place: text, issue: text, error: text }), ...names },
  ]
}
