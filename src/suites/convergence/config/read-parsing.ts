import { FormatError } from '../../../domain/errors.ts'
import type { Finder, LogSource, Parsing } from './contract.ts'
import { pythonPattern } from './python-pattern.ts'
import type { TestSection } from './test-section.ts'
import { quoted } from './yaml-tree.ts'

type PatternFinder = Extract<Finder, { kind: 'pattern' }>

const SOURCE_KINDS = ['lines', 'jsonl', 'jsonl-file', 'csv', 'tensorboard'] as const
const PARSER_KEYS = ['regex', 'labels', 'field', 'fields']
const STEP = 'a regular expression with one group, the number of the step'
const SAVE = 'a regular expression with one group, the path of the checkpoint'

/** What is looked for in the log of a test. */
export function readParsing(test: TestSection, metrics: readonly string[], warnings: string[]): Parsing {
  const source = readSource(test)
  const parsers = test.section('log_parsing', 'a map with step_num, model_save and a parser per metric')
  for (const name of parsers.keys) parser(parsers, name)
  const found = metrics.map((name) => [name, metricFinder(parser(parsers, name), source, warnings)] as const)
  const steps = stepFinders(parser(parsers, 'step_num'), source, warnings)
  const modelSave = saveFinder(parser(parsers, 'model_save'), source, warnings)
  if (isFile(source) && modelSave.kind === 'pattern' && !steps.lineStepNum) {
    const why = 'only lines of the stream tell which step was saved, because the file lags behind them'
    throw parser(parsers, 'step_num').refuse('regex', `is missing; expected ${STEP}: ${why}`)
  }
  return { source, ...steps, modelSave, metrics: Object.fromEntries(found) }
}

function readSource(test: TestSection): LogSource {
  const section = test.optionalSection('source', 'where metrics are read')?.allow(['kind', 'path'])
  if (!section) return { kind: 'lines' }
  const kind = section.oneOf('kind', SOURCE_KINDS, `one of ${SOURCE_KINDS.join(', ')}`)
  if (kind !== 'lines' && kind !== 'jsonl')
    return { kind, path: section.text('path', 'the file that the program writes') }
  if (section.has('path')) throw section.refuse('path', `is for files; ${kind} are read from the stream, so remove it`)
  return { kind }
}

function parser(parsers: TestSection, name: string): TestSection {
  return parsers.section(name, 'a map with a regex').allow(PARSER_KEYS)
}

function stepFinders(
  section: TestSection,
  source: LogSource,
  warnings: string[],
): Pick<Parsing, 'stepNum' | 'lineStepNum'> {
  warnOfLabels(section, warnings)
  if (!isFile(source)) return { stepNum: streamFinder(section, source, STEP) }
  const lines = section.has('regex') ? { lineStepNum: placeFinder(section, STEP) } : {}
  if (source.kind !== 'tensorboard') return { stepNum: fieldFinder(section, 'the field that holds the step'), ...lines }
  if (section.has('field')) throw section.refuse('field', 'is not needed: TensorBoard events have their own step')
  return { stepNum: { kind: 'fields', fields: {} }, ...lines }
}

function saveFinder(section: TestSection, source: LogSource, warnings: string[]): Finder {
  warnOfLabels(section, warnings)
  if (source.kind !== 'csv' && source.kind !== 'tensorboard') return streamFinder(section, source, SAVE)
  return placeFinder(section, SAVE)
}

/** Lines have patterns only, JSON may have a field instead. */
function streamFinder(section: TestSection, source: LogSource, what: string): Finder {
  if (source.kind === 'lines' || section.has('regex')) return placeFinder(section, what)
  return section.has('field') ? fieldFinder(section, what) : placeFinder(section, `${what}, or the name of a field`)
}

function placeFinder(section: TestSection, what: string): PatternFinder {
  if (section.has('field') && !section.has('regex')) {
    throw section.refuse('field', `is for files and JSON lines; expected regex: ${what}`)
  }
  return { ...patternFinder(section, what), labels: null }
}

function fieldFinder(section: TestSection, what: string): Finder {
  return { kind: 'fields', fields: { '0': section.text('field', what) } }
}

function metricFinder(section: TestSection, source: LogSource, warnings: string[]): Finder {
  const isStream = source.kind === 'lines' || source.kind === 'jsonl'
  const hasFields = section.has('field') || section.has('fields')
  if (isStream && (source.kind === 'lines' || !hasFields)) return labelledPattern(section, warnings)
  if (section.has('regex'))
    throw section.refuse('regex', `is for lines of text; for ${source.kind} write field: and its name`)
  if (section.has('labels')) throw section.refuse('labels', 'is for regex; write fields: with a map of label to field')
  if (!section.has('fields'))
    return fieldFinder(section, `the ${source.kind === 'tensorboard' ? 'tag' : 'field'} of the metric`)
  if (section.has('field')) throw section.refuse('field', 'and fields are both given; keep one of them')
  return { kind: 'fields', fields: labelledFields(section) }
}

function labelledFields(section: TestSection): Record<string, string> {
  const fields = section.section('fields', 'a map of label to field')
  if (fields.keys.length === 0) throw section.refuse('fields', 'is empty; expected a map of label to field')
  return Object.fromEntries(fields.keys.map((label) => [checkedName(fields, label), fields.text(label, 'a field')]))
}

function labelledPattern(section: TestSection, warnings: string[]): Finder {
  for (const key of ['field', 'fields']) {
    if (section.has(key))
      throw section.refuse(key, 'is for files and JSON lines; set source: {kind: …}, or write regex')
  }
  const finder = patternFinder(section, 'a regular expression with a group per value')
  if (!section.isGiven('labels')) return { ...finder, labels: null }
  const labels = section.texts('labels', 'a list of names, one per group')
  const twice = labels.find((label, i) => labels.indexOf(label) !== i)
  if (twice !== undefined) throw section.refuse('labels', `has ${quoted(twice)} twice; labels must differ`)
  for (const label of labels)
    if (label === '__proto__') throw section.refuse('labels', 'has "__proto__"; use another name')
  if (labels.length === finder.groups) return { ...finder, labels }
  const counts = `${counted(labels.length, 'label')} for ${counted(finder.groups, 'group')}`
  warnings.push(`${section.path} has ${counts}, so its values are named by number, from 0`)
  return { ...finder, labels: null }
}

function patternFinder(section: TestSection, what: string): Omit<PatternFinder, 'labels'> & { groups: number } {
  const text = section.text('regex', what)
  const { source, flags, groups } = translated(section, text)
  if (groups === 0) throw section.refuse('regex', `${quoted(text)} has no group; expected ${what}`)
  return { kind: 'pattern', source, flags, groups }
}

function translated(section: TestSection, text: string) {
  try {
    return pythonPattern(text)
  } catch (error) {
    if (error instanceof FormatError) throw section.refuse('regex', `is refused: ${error.message}`)
    throw error
  }
}

function warnOfLabels(section: TestSection, warnings: string[]): void {
  if (section.has('labels')) warnings.push(`${section.path}.labels is ignored: only the first group counts there`)
}

function isFile(source: LogSource): boolean {
  return 'path' in source
}

/** A name that becomes the key of an object. */
export function checkedName(section: TestSection, name: string): string {
  if (name !== '' && name !== '__proto__') return name
  throw section.refuse(name, 'is not a valid name; use another one')
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
