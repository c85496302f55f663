import { FormatError } from '../../domain/errors.ts'
import { cleanText } from '../../domain/text.ts'
import type { Finder, LogSource, Parsing } from './contract.ts'
import { pythonPattern } from './python-pattern.ts'
import type { YamlSection } from './yaml-section.ts'

const KINDS = ['lines', 'jsonl', 'jsonl-file', 'csv', 'tensorboard'] as const
const KEYS = ['regex', 'labels', 'field', 'fields']

/** Where values are found in the log; `metrics`: those that are judged, each of which needs a parser. */
export function readParsing(test: YamlSection, metrics: readonly string[], warn: (text: string) => void): Parsing {
  const source = readSource(test)
  const parsing = test.section('log_parsing', 'the patterns of step_num, model_save and the metrics')
  const find = (name: string, what: string) => readFinder(parsing, name, what, source, warn)
  const missing = metrics.find((name) => !parsing.mentions(name))
  if (missing !== undefined) throw parsing.problem(missing, 'is missing: the metric of that name needs a pattern')
  const isFile = 'path' in source
  const stepNum = isFile ? fileStep(parsing, find) : find('step_num', 'a pattern with one group, the step number')
  const lineStep = isFile && parsing.section('step_num', 'a pattern with one group, the step number').has('regex')
  // Others are allowed and not read, such as that of an epoch.
  for (const name of parsing.keys) parsing.optional(name)?.refuseOthers(KEYS)
  return {
    source,
    stepNum,
    modelSave: find('model_save', 'a pattern with one group, the path of the checkpoint'),
    metrics: Object.fromEntries(metrics.map((name) => [name, find(name, 'a pattern with a group for each value')])),
    ...(lineStep && { lineStepNum: patternOf(parsing, 'step_num', warn) }),
  }
}

type Find = (name: string, what: string) => Finder

/** TensorBoard knows steps by itself; a CSV or JSON file has a field. */
function fileStep(parsing: YamlSection, find: Find): Finder {
  const step = parsing.section('step_num', 'the field of the step number')
  return step.has('field')
    ? find('step_num', 'the field of the step number')
    : { kind: 'fields', fields: { '0': 'step' } }
}

function readSource(test: YamlSection): LogSource {
  const source = test.optional('source')
  if (!source) return { kind: 'lines' }
  source.refuseOthers(['kind', 'path'])
  const kind = source.choice('kind', KINDS)
  if (kind !== 'lines' && kind !== 'jsonl')
    return { kind, path: source.text('path', 'the file, relative to directory') }
  if (source.has('path')) throw source.problem('path', `goes with a file; ${kind} are read from the stream`)
  return { kind }
}

function readFinder(
  parsing: YamlSection,
  name: string,
  what: string,
  source: LogSource,
  warn: (text: string) => void,
): Finder {
  const section = parsing.section(name, what)
  const hasFields = section.has('field') || section.has('fields')
  if (!hasFields) return patternOf(parsing, name, warn)
  if (section.has('regex')) throw section.problem('regex', 'stands beside a field; take one of them')
  if (source.kind === 'lines')
    throw section.problem('', 'has a field, which needs a source with fields, such as source: {kind: jsonl}')
  if (section.has('field')) return { kind: 'fields', fields: { '0': section.text('field', 'the name of a field') } }
  const fields = section.section('fields', 'a field for each label')
  return {
    kind: 'fields',
    fields: Object.fromEntries(fields.keys.map((label) => [label, fields.text(label, 'a field')])),
  }
}

const FIXED = ['step_num', 'model_save']

function patternOf(parsing: YamlSection, name: string, warn: (text: string) => void): Finder {
  const section = parsing.section(name, 'a pattern')
  const { source, flags, groups } = translated(section)
  if (groups === 0) throw section.problem('regex', 'has no group, so it finds no value: put parentheses around it')
  const labels = section.has('labels') ? section.texts('labels', 'a list of names') : null
  return { kind: 'pattern', source, flags, labels: usable(labels, groups, name, warn) }
}

function translated(section: YamlSection) {
  const text = section.text('regex', 'a regular expression')
  try {
    return pythonPattern(text)
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw section.problem('regex', `"${cleanText(text, 200)}": ${error.message}`)
  }
}

/** As documented: where labels do not fit the groups, values are named by number. */
function usable(
  labels: readonly string[] | null,
  groups: number,
  name: string,
  warn: (text: string) => void,
): readonly string[] | null {
  if (labels === null) return null
  if (FIXED.includes(name)) {
    warn(`log_parsing.${name} needs no labels; they are ignored`)
    return null
  }
  const isUsable = labels.length === groups && new Set(labels).size === labels.length
  if (isUsable) return labels
  const why = labels.length === groups ? 'names a label twice' : `has ${labels.length} labels for ${groups} groups`
  warn(`log_parsing.${name} ${why}, so its values are named 0 to ${groups - 1}`)
  return null
}
