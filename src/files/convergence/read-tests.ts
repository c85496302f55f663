import { readFile, stat } from 'node:fs/promises'
import { parseDocument } from 'yaml'
import { UsageError } from '../../domain/errors.ts'
import { cleanProse, cleanText } from '../../domain/text.ts'
import { digestOf } from '../digest.ts'
import type { ConvergenceTest } from './contract.ts'
import { readFlags } from './read-flags.ts'
import { readParsing } from './read-parsing.ts'
import { readRules } from './read-rules.ts'
import { YamlSection } from './yaml-section.ts'

const LARGEST_BYTES = 2 ** 22

/** The named tests of a configuration, in the documented form with more keys. */
export async function readConvergenceTests(path: string): Promise<ConvergenceTest[]> {
  const file = await yamlOf(path)
  if (file.keys.length === 0) throw new UsageError('converge', `${path} names no test`)
  return file.keys.map((name) => readTest(name, file.section(name, 'a test')))
}

async function yamlOf(path: string): Promise<YamlSection> {
  const known = await stat(path).catch(() => null)
  if (!known?.isFile())
    throw new UsageError('converge', `${path} is not there; -t takes the configuration of the tests`)
  if (known.size > LARGEST_BYTES) throw new UsageError('converge', `${path} is too large for a configuration`)
  const document = parseDocument(await readFile(path, 'utf8'), { version: '1.1', schema: 'core' })
  const [problem] = document.errors
  if (problem) throw new UsageError('converge', `${path} is no YAML: ${cleanProse(problem.message, 300)}`)
  return new YamlSection(document, document.contents, `${path}:`)
}

const KEYS = [
  'directory',
  'executable',
  'log_output',
  'log_parsing',
  'metrics',
  'recording',
  'flags',
  'source',
  'resume_at',
  'run_for',
  'steps_per_unit',
  'env',
  'timeouts',
  'retries',
]

function readTest(name: string, test: YamlSection): ConvergenceTest {
  refuseName(name, test)
  test.refuseOthers(KEYS)
  const warnings: string[] = []
  const rules = readRules(test.section('metrics', 'the metrics to judge, with margin and comparison'))
  return {
    name,
    directory: test.text('directory', 'the folder of the program, relative to the root'),
    executable: test.texts('executable', 'a list of words, such as ["python3", "train.py"]'),
    logOutput: test.choice('log_output', ['stdout', 'stderr', 'both']),
    parsing: readParsing(test, Object.keys(rules), (text) => warnings.push(text)),
    rules,
    ...readRecording(test.section('recording', 'what is recorded, with steps_to_record_after_save')),
    flags: readFlags(test),
    resumeAt: test.choice('resume_at', ['last_step', 'next_step'], 'last_step'),
    runFor: test.choice('run_for', ['end', 'count'], 'end'),
    stepsPerUnit: test.has('steps_per_unit') ? test.whole('steps_per_unit', 'a whole number from 1 on', 1) : 1,
    environment: readEnvironment(test.optional('env')),
    ...readTimeouts(test.optional('timeouts')),
    retries: readRetries(test.optional('retries')),
    digest: digestOf(test.content),
    warnings,
  }
}

/** It becomes part of a file's name and of ids. */
function refuseName(name: string, test: YamlSection): void {
  if (name !== '' && !/[/\\\s]|\p{Cc}|^\.{1,2}$/u.test(name)) return
  throw test.problem(
    '',
    `has the name "${cleanText(name, 80)}", which must do for a file: no blanks, slashes or control characters`,
  )
}

function readRecording(recording: YamlSection): Pick<ConvergenceTest, 'stepsToRecord' | 'recordingCounts'> {
  recording.refuseOthers(['steps_to_record_after_save', 'counts'])
  return {
    stepsToRecord: recording.whole('steps_to_record_after_save', 'how many steps are recorded, from 1 on', 1),
    recordingCounts: recording.choice('counts', ['steps', 'entries'], 'steps'),
  }
}

function readEnvironment(env: YamlSection | null): Record<string, string> {
  if (!env) return {}
  const odd = env.keys.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  if (odd !== undefined) throw env.problem(odd, 'is no name of a variable')
  return Object.fromEntries(env.keys.map((name) => [name, env.has(name) ? env.text(name, 'a text') : '']))
}

/** Loading data and compiling a model may take its time. */
const IDLE_SECONDS = 1800

function readTimeouts(timeouts: YamlSection | null): Pick<ConvergenceTest, 'idleSeconds' | 'totalSeconds'> {
  timeouts?.refuseOthers(['idle', 'total'])
  const seconds = (key: string) => {
    if (!timeouts?.has(key)) return null
    const value = timeouts.number(key, 'a number of seconds above 0')
    if (value <= 0) throw timeouts.problem(key, `should be a number of seconds above 0, found ${value}`)
    return value
  }
  return { idleSeconds: seconds('idle') ?? IDLE_SECONDS, totalSeconds: seconds('total') }
}

function readRetries(retries: YamlSection | null): ConvergenceTest['retries'] {
  if (!retries) return { attempts: 0, exitCodes: [], patterns: [] }
  retries.refuseOthers(['attempts', 'exit_codes', 'patterns'])
  const codes = retries.has('exit_codes') ? retries.texts('exit_codes', 'a list of exit codes') : []
  const odd = codes.find((code) => !/^\d{1,3}$/.test(code) || Number(code) === 0)
  if (odd !== undefined) throw retries.problem('exit_codes', `should be codes of failures, from 1 on, found "${odd}"`)
  return {
    attempts: retries.whole('attempts', 'how often it is tried again', 0),
    exitCodes: codes.map(Number),
    patterns: retries.has('patterns') ? retries.texts('patterns', 'a list of texts') : [],
  }
}
