import { stat } from 'node:fs/promises'
import { FormatError, UsageError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import { readText } from '../../../files/disk/regular-file.ts'
import { shownPath } from '../../../files/disk/shown-path.ts'
import type { ConvergenceTest, ResumeAt } from './contract.ts'
import { pythonPattern } from './python-pattern.ts'
import { readFlags } from './read-flags.ts'
import { checkedName, readParsing } from './read-parsing.ts'
import { readRules } from './read-rules.ts'
import { TestSection } from './test-section.ts'
import { quoted, readYamlTree, type YamlTree } from './yaml-tree.ts'

const MAX_FILE_BYTES = 2 ** 20
const MAX_NAME_LENGTH = 100
const IDLE_SECONDS = 600
const MAX_ATTEMPTS = 10
const TEST_KEYS = [
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

/** The tests of a configuration file, in its order. */
export async function readConvergenceTests(path: string, cwd: string): Promise<ConvergenceTest[]> {
  const file = cleanText(shownPath(path, cwd), 200)
  const tree = readYamlTree(await textOf(path), file)
  if (tree.kind !== 'map' || tree.entries.size === 0) {
    throw new UsageError('convergence', `${file}: no tests; expected a map of test name to its directory, executable …`)
  }
  return [...tree.entries].map(([name, body]) => readTest(name, body, file))
}

async function textOf(path: string): Promise<string> {
  const shown = cleanText(path)
  const found = await stat(path).catch(() => null)
  if (!found) throw new UsageError('convergence', `no configuration file ${shown}; give the path of a YAML file`)
  if (!found.isFile()) throw new UsageError('convergence', `${shown} is not a file; give the path of a YAML file`)
  if (found.size > MAX_FILE_BYTES) {
    throw new UsageError(
      'convergence',
      `${shown} has ${found.size} bytes, which is more than ${MAX_FILE_BYTES}; split it`,
    )
  }
  return readText(path, MAX_FILE_BYTES)
}

function readTest(name: string, body: YamlTree, file: string): ConvergenceTest {
  checkTestName(name, body, file)
  if (body.kind !== 'map') {
    throw new UsageError(
      'convergence',
      `${file}:${body.line}: ${name} is not a map; expected directory, executable and so on`,
    )
  }
  const section = new TestSection(body, name, file).allow(TEST_KEYS)
  const warnings: string[] = []
  const program = readProgram(section)
  const rules = readRules(section, warnings)
  const flags = readFlags(section, warnings)
  const parsing = readParsing(section, Object.keys(rules), warnings)
  const recording = readRecording(section)
  const limits = readLimits(section)
  const { common, gather } = flags
  const gathering = { ...program, parsing, ...recording, common, gather, environment: limits.environment }
  return {
    name,
    ...program,
    parsing,
    rules,
    ...recording,
    flags,
    ...readReplay(section),
    ...limits,
    digest: computeDigest(gathering),
    warnings,
  }
}

/** It becomes part of file names and of case ids. */
function checkTestName(name: string, body: YamlTree, file: string): void {
  const isPath = /[/\\]/.test(name) || name.includes('..')
  const isClean = cleanText(name, MAX_NAME_LENGTH) === name && name.trim() === name
  if (name !== '' && name !== '.' && name !== '__proto__' && !isPath && isClean) return
  const advice = `expected at most ${MAX_NAME_LENGTH} visible characters without "/", "\\" and ".."`
  throw new UsageError(
    'convergence',
    `${file}:${body.line}: the test name ${quoted(name)} cannot be a file name; ${advice}`,
  )
}

function readProgram(section: TestSection): Pick<ConvergenceTest, 'directory' | 'executable' | 'logOutput'> {
  const directory = section.text('directory', 'the folder of the program')
  const executable = section.texts('executable', 'a list of strings, such as ["python3", "train.py"]')
  if (!executable[0])
    throw section.refuse('executable', 'names no program; expected a list, such as ["python3", "train.py"]')
  const logOutput = section.oneOf('log_output', ['stdout', 'stderr', 'both'], 'stdout or stderr, or both')
  return { directory, executable, logOutput }
}

function readRecording(section: TestSection): Pick<ConvergenceTest, 'stepsToRecord' | 'recordingCounts'> {
  const recording = section.section('recording', 'a map with steps_to_record_after_save')
  recording.allow(['steps_to_record_after_save', 'counts'])
  const what = 'a whole number of steps, at least 1'
  return {
    stepsToRecord: recording.number('steps_to_record_after_save', what, { least: 1, isWhole: true }),
    recordingCounts: recording.has('counts')
      ? recording.oneOf('counts', ['steps', 'entries'], 'steps or entries')
      : 'steps',
  }
}

function readReplay(section: TestSection): Pick<ConvergenceTest, 'resumeAt' | 'runFor' | 'stepsPerUnit'> {
  const whole = { least: 1, isWhole: true }
  return {
    resumeAt: section.has('resume_at')
      ? section.oneOf<ResumeAt>('resume_at', ['last_step', 'next_step'], 'last_step or next_step')
      : null,
    runFor: section.has('run_for') ? section.oneOf('run_for', ['end', 'count'], 'end or count') : 'end',
    stepsPerUnit: section.has('steps_per_unit')
      ? section.number('steps_per_unit', 'a whole number of steps, at least 1', whole)
      : 1,
  }
}

type Limits = Pick<ConvergenceTest, 'environment' | 'idleSeconds' | 'totalSeconds' | 'retries'>

function readLimits(section: TestSection): Limits {
  const timeouts = section
    .optionalSection('timeouts', 'a map with idle and total, in seconds')
    ?.allow(['idle', 'total'])
  const seconds = (key: string) =>
    timeouts?.has(key) ? timeouts.number(key, 'seconds, at least 1', { least: 1 }) : null
  return {
    environment: readEnvironment(section),
    idleSeconds: seconds('idle') ?? IDLE_SECONDS,
    totalSeconds: seconds('total'),
    retries: readRetries(section),
  }
}

function readEnvironment(section: TestSection): Record<string, string> {
  const env = section.optionalSection('env', 'a map of variable to value')
  const pairs = (env?.keys ?? []).map((name) => {
    checkedName(env!, name)
    if (/[=\0]/.test(name)) throw env!.refuse(name, 'is not a valid name for an environment variable')
    return [name, env!.optionalText(name, 'text') ?? ''] as const
  })
  return Object.fromEntries(pairs)
}

function readRetries(section: TestSection): ConvergenceTest['retries'] {
  const retries = section.optionalSection('retries', 'a map with attempts and exit_codes or patterns')
  if (!retries) return { attempts: 0, exitCodes: [], patterns: [] }
  retries.allow(['attempts', 'exit_codes', 'patterns'])
  const what = `a whole number from 0 to ${MAX_ATTEMPTS}`
  const attempts = retries.has('attempts')
    ? retries.number('attempts', what, { least: 0, most: MAX_ATTEMPTS, isWhole: true })
    : 1
  const exitCodes = retries.has('exit_codes') ? readExitCodes(retries) : []
  const patterns = retries.has('patterns') ? readPatterns(retries) : []
  if (attempts === 0 || exitCodes.length + patterns.length > 0) return { attempts, exitCodes, patterns }
  throw section.refuse('retries', 'has no condition; add exit_codes or patterns')
}

function readExitCodes(retries: TestSection): number[] {
  return retries.texts('exit_codes', 'a list of exit codes').map((text) => {
    const code = /^\d{1,3}$/.test(text) ? Number(text) : 0
    if (code >= 1 && code <= 255) return code
    throw retries.refuse('exit_codes', `has ${quoted(text)}, expected whole numbers from 1 to 255`)
  })
}

function readPatterns(retries: TestSection): string[] {
  const patterns = retries.texts('patterns', 'a list of regular expressions')
  for (const pattern of patterns) {
    try {
      pythonPattern(pattern)
    } catch (error) {
      if (error instanceof FormatError) throw retries.refuse('patterns', `is refused: ${error.message}`)
      throw error
    }
  }
  return patterns
}
