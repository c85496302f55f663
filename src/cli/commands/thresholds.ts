import { relative, resolve } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { describeUnknown, nearest } from '../../domain/suggest.ts'
import { cleanText } from '../../domain/text.ts'
import { EXIT } from '../../domain/verdict.ts'
import { describeEnvironment } from '../../library/environment.ts'
import { COMMON_OPTIONS } from '../../options/common.ts'
import { resolveOptions } from '../../options/resolve.ts'
import type { Values } from '../../options/table.ts'
import { inertJson } from '../../reporters/json.ts'
import { documentedLayerLines, layerThresholdLines } from '../../reporters/layer-threshold-lines.ts'
import { thresholdLines } from '../../reporters/threshold-lines.ts'
import { METRICS, type MetricName } from '../../suites/decoders/gates/contract.ts'
import { type LearntThresholds, learnThresholds } from '../../suites/decoders/thresholds/learn-thresholds.ts'
import { DOCUMENTED_METRICS } from '../../suites/layers/thresholds/documented-values.ts'
import { type LearntLayers, learnLayerThresholds } from '../../suites/layers/thresholds/learn-layer-thresholds.ts'
import { LAYER_METRICS } from '../../suites/layers/thresholds/learn-limits.ts'
import { THRESHOLDS_OPTIONS } from '../command-options.ts'
import type { Action, CommandIo } from '../io.ts'

export const thresholds: Action = async (words, options, io) => {
  const { values } = resolveOptions(THRESHOLDS_OPTIONS, { commandLine: options, environment: io.env, file: {} })
  const models = [...words, ...values.model]
  await (values.layerIo ? ofLayers : ofDecoders)(models, values, io)
  return EXIT.ok
}

type ThresholdsValues = Values<typeof THRESHOLDS_OPTIONS>

async function ofDecoders(models: readonly string[], values: ThresholdsValues, io: CommandIo): Promise<void> {
  if (values.documentedJson) throw new UsageError('option', '--documented-json goes with --layer-io; give both')
  const { metricsDir: metricsFolder = 'metrics', output = metricsFolder, metrics = ['ce', 'diff_mean'] } = values
  const learnt = await learnThresholds({
    cwd: io.cwd,
    environment: io.env,
    models,
    metrics: metricNames(metrics, Object.keys(METRICS) as MetricName[]),
    metricsFolder,
    outputFolder: output,
    machine: describeEnvironment(),
  })
  if (values.json) io.stdout.write(`${inertJson({ schema: 'assay/learnt-thresholds@1', learnt }, 2)}\n`)
  else for (const one of learnt) print(one, io)
}

async function ofLayers(models: readonly string[], values: ThresholdsValues, io: CommandIo): Promise<void> {
  const metrics = metricNames(values.metrics ?? ['abs_diff', 'cos_sim'], [...DOCUMENTED_METRICS, ...LAYER_METRICS])
  const learnt = await learnLayerThresholds({
    cwd: io.cwd,
    runsFolder: resolve(io.cwd, COMMON_OPTIONS.outputDir.default),
    models,
    metrics,
    metricsFolder: values.metricsDir,
    outputFolder: values.output,
    documented: values.documentedJson,
    machine: describeEnvironment(),
  })
  if (values.json) io.stdout.write(`${inertJson({ schema: 'assay/learnt-layer-thresholds@1', learnt }, 2)}\n`)
  else for (const one of learnt) printLayers(one, metrics, io)
}

/** As for decoders: documented lines on stdout, the rest on stderr. */
function printLayers(one: LearntLayers, metrics: readonly string[], { cwd, stdout, stderr }: CommandIo): void {
  for (const line of documentedLayerLines(one, metrics)) stdout.write(`${line}\n`)
  const wrote = one.paths.map((path) => `wrote ${cleanText(relative(cwd, path))}`)
  stderr.write(`${['', ...layerThresholdLines(one, metrics), ...wrote].join('\n')}\n`)
}

function metricNames<Name extends string>(words: readonly string[], known: readonly Name[]): Name[] {
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
