import { describeExpected, type StaleEntry } from '../domain/expected-failure.ts'
import type { Metric, Result } from '../domain/result.ts'
import type { Reporter, RunEvent, RunHeader } from '../domain/run.ts'
import { cleanText } from '../domain/text.ts'
import { caseBlock, commandText } from './case-block.ts'
import { whyText } from './explain.ts'
import { incompleteText } from './run-summary.ts'
import { createStyle } from './style.ts'

type RunEnd = Extract<RunEvent, { type: 'run-end' }>

/** How a verdict looks to a CI server: `fail` and `error` kept apart, what proves nothing is skipped. */
type Outcome = {
  readonly element: 'failure' | 'error' | 'skipped'
  readonly type: string
  readonly message: string
} | null

/** JUnit XML when the run ends: a test suite per suite, a test case per case, metrics as properties. */
export class JunitReporter implements Reporter {
  readonly #write: (chunks: Iterable<string>) => Promise<void>
  readonly #durationsMs = new Map<string, number>()

  constructor(write: (chunks: Iterable<string>) => Promise<void>) {
    this.#write = write
  }

  async onEvent(event: RunEvent): Promise<void> {
    if (event.type === 'case-end') this.#durationsMs.set(event.result.id, event.durationMs)
    if (event.type === 'run-end') await this.#write(documentChunks(event, this.#durationsMs))
  }
}

type Durations = ReadonlyMap<string, number>

function* documentChunks(event: RunEnd, durationsMs: Durations): Generator<string> {
  const { run, results } = event
  const time = run.summary ? { time: seconds(run.summary.durationMs) } : {}
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${attributes({ name: 'assay', ...totals(run, results), ...time })}>\n`
  for (const suite of new Set(results.map((result) => result.suite))) {
    const own = results.filter((result) => result.suite === suite)
    yield `  <testsuite${attributes({ name: suite, ...tally(run, own), timestamp: run.startedAt, ...totalTime(own, durationsMs) })}>\n`
    yield propertiesElement(runProperties(run, results.length), '    ')
    for (const result of own) yield caseElement(result, event, durationsMs.get(result.id))
    yield '  </testsuite>\n'
  }
  yield* staleSuite(run)
  yield '</testsuites>\n'
}

/** Entries that match no case; with --strict they fail the run, so they have to fail here too. */
function* staleSuite(run: RunHeader): Generator<string> {
  const stale = run.summary?.stale ?? []
  if (stale.length === 0) return
  yield `  <testsuite${attributes({ name: 'expected failures', ...staleTally(run, stale) })}>\n`
  for (const { id, place } of stale) {
    const message = `${place}: ${id} matches no case of the whole plan; mend or remove the entry`
    const outcome = `<${isStrict(run) ? 'failure' : 'skipped'}${attributes({ type: 'StaleEntry', message })}/>`
    yield `    <testcase${attributes({ classname: 'stale entries', name: id })}>${outcome}</testcase>\n`
  }
  yield '  </testsuite>\n'
}

function totals(run: RunHeader, results: readonly Result[]): Record<string, string> {
  const stale = staleTally(run, run.summary?.stale ?? [])
  const sums = Object.entries(tally(run, results)).map(([name, own]) => [
    name,
    String(Number(own) + Number(stale[name])),
  ])
  return Object.fromEntries(sums)
}

function staleTally(run: RunHeader, stale: readonly StaleEntry[]): Record<string, string> {
  const [count, none] = [String(stale.length), '0']
  const [failures, skipped] = isStrict(run) ? [count, none] : [none, count]
  return { tests: count, failures, errors: none, skipped }
}

function tally(run: RunHeader, results: readonly Result[]): Record<string, string> {
  const elements = results.map((result) => outcomeOf(result, run)?.element)
  const count = (element: string) => String(elements.filter((own) => own === element).length)
  return {
    tests: String(results.length),
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
  }
}

/** Left out unless every case was timed: a part of the time would look like all of it. */
function totalTime(results: readonly Result[], durationsMs: Durations): Record<string, string> {
  const times = results.map((result) => durationsMs.get(result.id))
  if (times.includes(undefined)) return {}
  return { time: seconds(times.reduce<number>((sum, durationMs) => sum + durationMs!, 0)) }
}

function runProperties(run: RunHeader, judged: number): [string, string][] {
  const incomplete = incompleteText(run, judged)
  const environment = Object.entries(run.environment)
  return [
    ['run', run.id],
    ['state', run.state],
    ...(incomplete ? [['incomplete', incomplete] as [string, string]] : []),
    ...environment,
  ]
}

function caseElement(result: Result, { run, folder }: RunEnd, durationMs: number | undefined): string {
  const time = durationMs === undefined ? {} : { time: seconds(durationMs) }
  const names = { classname: result.model, name: `${result.scope}@${result.target}`, ...time }
  return [
    `    <testcase${attributes(names)}>\n`,
    propertiesElement(caseProperties(result), '      '),
    outcomeElement(result, outcomeOf(result, run), folder, durationMs),
    `      <system-out>${escapeXml(`reproduce: ${commandText(result.reproduce)}`)}</system-out>\n`,
    '    </testcase>\n',
  ].join('')
}

function outcomeElement(result: Result, outcome: Outcome, folder: string, durationMs: number | undefined): string {
  if (!outcome) return ''
  const { element, type, message } = outcome
  if (element === 'skipped') return `      <skipped${attributes({ type, message })}/>\n`
  const block = caseBlock(result, { style: PLAIN, verbose: false, folder, durationMs })
  return `      <${element}${attributes({ type, message })}>${escapeXml(block.join('\n'))}</${element}>\n`
}

const PLAIN = createStyle({ write: () => true }, { env: {}, color: false })

function outcomeOf(result: Result, run: RunHeader): Outcome {
  const message = whyText(result) || result.verdict
  switch (result.verdict) {
    case 'pass':
    case 'captured':
      return null
    case 'fail':
      return { element: 'failure', type: 'OutputMismatch', message }
    case 'xpass':
      return { element: 'failure', type: 'UnexpectedPass', message }
    case 'error':
      return { element: 'error', type: errorType(result), message }
    case 'inconclusive':
      return {
        element: isStrict(run) ? 'failure' : 'skipped',
        type: 'Inconclusive',
        message: `inconclusive: ${message}`,
      }
    case 'skip':
      return { element: 'skipped', type: 'Skip', message }
    case 'xfail':
      return { element: 'skipped', type: 'ExpectedFailure', message }
  }
}

/** With --strict an inconclusive case fails the run, so it has to fail here too. */
function isStrict(run: RunHeader): boolean {
  return run.options.strict === true
}

/** `CompileError`, `RunError` … */
function errorType(result: Result): string {
  const stage = result.error?.stage ?? 'unknown'
  return `${stage[0]!.toUpperCase()}${stage.slice(1)}Error`
}

function caseProperties(result: Result): [string, string][] {
  const { compared, expected } = result.coverage
  return [
    ['id', result.id],
    ['verdict', result.verdict],
    ['reference', result.reference],
    ['compared', `${compared} of ${expected}`],
    ...expectedProperties(result),
    ...result.flags.map((flag): [string, string] => ['flag', flag]),
    ...result.metrics.flatMap(metricProperties),
  ]
}

function expectedProperties({ expected }: Result): [string, string][] {
  if (!expected) return []
  const { entry, outcome, found } = expected
  return [
    ['expected', describeExpected(entry)],
    ['expected.outcome', outcome],
    ['expected.found', found.verdict],
    ['expected.place', entry.place],
    ...(entry.issue === undefined ? [] : [['expected.issue', entry.issue] as [string, string]]),
    ...(entry.expires === undefined ? [] : [['expected.expires', entry.expires] as [string, string]]),
  ]
}

function metricProperties(metric: Metric): [string, string][] {
  const measured =
    metric.value === null ? `not measured: ${metric.reason ?? 'no reason recorded'}` : String(metric.value)
  const limit: [string, string][] =
    metric.threshold === undefined ? [] : [[`${metric.name}.limit`, String(metric.threshold)]]
  const from: [string, string][] = metric.provenance ? [[`${metric.name}.provenance`, metric.provenance]] : []
  return [[metric.name, measured], ...limit, ...from, [`${metric.name}.count`, String(metric.count)]]
}

function propertiesElement(properties: readonly [string, string][], indent: string): string {
  const lines = properties.map(([name, value]) => `${indent}  <property${attributes({ name, value })}/>\n`)
  return `${indent}<properties>\n${lines.join('')}${indent}</properties>\n`
}

function attributes(values: Readonly<Record<string, string>>): string {
  const texts = Object.entries(values).map(([name, value]) => ` ${name}="${escapeXml(cleanText(value))}"`)
  return texts.join('')
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(3)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** For text that is clean already: nothing that XML 1.0 forbids is left in it. */
function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}
