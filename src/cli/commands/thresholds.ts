import { relative } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { describeUnknown, nearest } from '../../domain/suggest.ts'
import { cleanText } from '../../domain/text.ts'
import { EXIT } from '../../domain/verdict.ts'
import { describeEnvironment } from '../../library/environment.ts'
import { resolveOptions } from '../../options/resolve.ts'
import { inertJson } from '../../reporters/json.ts'
import { thresholdLines } from '../../reporters/threshold-lines.ts'
import { METRICS, type MetricName } from '../../suites/decoders/gates/contract.ts'
import { type LearntThresholds, learnThresholds } from '../../suites/decoders/thresholds/learn-thresholds.ts'
import { THRESHOLDS_OPTIONS } from '../command-options.ts'
import type { Action, CommandIo } from '../io.ts'

export const thresholds: Action = async (words, options, io) => {
  const { values } = resolveOptions(THRESHOLDS_OPTIONS, { commandLine: options, environment: io.env, file: {} })
  const { metricsDir: metricsFolder, output = metricsFolder } = values
  const learnt = await learnThresholds({
    cwd: io.cwd,
    environment: io.env,
    models: [...words, ...values.model],
    metrics: metricNames(values.metrics),
    metricsFolder,
    outputFolder: output,
    machine: describeEnvironment(),
  })
  if (values.json) io.stdout.write(`${inertJson({ schema: 'assay/learnt-thresholds@1', learnt }, 2)}\n`)
  else for (const one of learnt) print(one, io)
  return EXIT.ok
}

function metricNames(words: readonly string[]): MetricName[] {
  const known = Object.keys(METRICS) as MetricName[]
  const names = words
    .flatMap((word) => word.split(','))
    .map((word) => {
      const name = known.find((metric) => metric === word)
      if (!name) throw refusal(word, known)
      return name
    })
  return [...new Set(names)]
}

/** `--metrics` takes all words that follow it, so a model may be among them. */
function refusal(word: string, known: readonly string[]): UsageError {
  const text = describeUnknown(`metric "${word}"`, word, known)
  const isModel = nearest(word, known) === null
  return new UsageError('metric', isModel ? `${text}; put models before --metrics or after --model` : text)
}

/** Prints the documented lines on stdout, where programs read them, and the rest on stderr. */
function print(one: LearntThresholds, { cwd, stdout, stderr }: CommandIo): void {
  const { model, thresholds: learnt, files, path, kept } = one
  const isAsked = ([metric]: [string, unknown]) => !kept.some((other) => other === metric)
  for (const [metric, { value }] of Object.entries(learnt.metrics).filter(isAsked)) {
    stdout.write(`found ${files} metric files\n${cleanText(model)} ${metric} ${value}\n`)
  }
  const shown = relative(cwd, path)
  const lines = ['', ...thresholdLines(learnt), '', ...notes(one), `wrote ${cleanText(shown)}`]
  stderr.write(`${lines.join('\n')}\n`)
}

function notes({ thresholds: { metrics, shapes }, kept, replaced }: LearntThresholds): string[] {
  const few = Object.values(metrics).some(({ interval }) => interval.high === null)
  const unpaired = shapes.filter(({ sequences }) => sequences === null).length
  return [
    ...(few ? ['note: too few tokens to bound a 99th percentile from above; measure 368 or more'] : []),
    ...(unpaired > 0
      ? [`note: ${unpaired} of ${shapes.length} shapes have no .sequences.json, which the paired gate needs`]
      : []),
    ...(kept.length > 0 ? [`note: also learnt ${kept.join(' and ')} again, which the earlier file had`] : []),
    ...(replaced === null ? [] : [`note: ${replaced}`]),
  ]
}
