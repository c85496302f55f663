import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, setVariables } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { remember, rememberSuccess } from '../../domain/remember.ts'
import { suggestWord } from '../../domain/suggest.ts'
import { isVersionWord } from '../../domain/target.ts'
import type { LaunchContext } from '../contract.ts'
import { runNpm } from './npm.ts'
import { highestVersion, isExactVersion, newestReleases } from './version-order.ts'

/** By default npm waits 70 s before it reports an unreachable registry. */
const IMPATIENT = ['--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=3000', '--fetch-timeout=30000']
const NEWEST_COUNT = 3

/** By environment, which may name another registry. */
const answers = new WeakMap<Environment, Map<string, Promise<string>>>()

/** The version that a word means: itself, or what the registry has for a tag or for the beginning of a version. */
export async function exactVersion(name: string, word: string, context: LaunchContext): Promise<string> {
  if (!isVersionWord(word)) {
    throw new UsageError('target', `"${word}" is not a version of ${name}; write one such as 1.30.0, 1.30 or latest`)
  }
  if (isExactVersion(word)) return word
  const known = remember(answers, context.environment, () => new Map<string, Promise<string>>())
  // Somebody who asks later may have a network.
  return rememberSuccess(known, `${name}@${word}`, () => askRegistry(name, word, context))
}

/** In a new folder, since npm follows the .npmrc of the one that it runs in. */
async function askRegistry(name: string, word: string, context: LaunchContext): Promise<string> {
  const { TMPDIR = tmpdir() } = setVariables(context.environment)
  const folder = await mkdtemp(join(TMPDIR, 'assay-npm-'))
  try {
    return await askFrom(folder, name, word, context)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function askFrom(folder: string, name: string, word: string, context: LaunchContext): Promise<string> {
  const { environment, notice } = context
  const { answer, code, complaint } = await npmView([`${name}@${word}`, 'version'], folder, environment)
  const version = highestVersion(textsOf(answer))
  if (version !== null) {
    notice(`${name}@${word} is ${version}`)
    return version
  }
  const unknown = code === null || code === 'E404' ? await noSuchVersion(name, word, folder, environment) : null
  throw unknown ?? noAnswer(`${name}@${word}`, complaint)
}

function noAnswer(spec: string, complaint: string): UsageError {
  const what = `cannot ask the registry which version ${spec} is, so name an exact one such as 1.30.0`
  return new UsageError('install', `${what}; npm said: ${complaint}`)
}

/** That a version does not exist, and which ones do; null if it does exist or the registry does not tell. */
export async function noSuchVersion(
  name: string,
  word: string,
  folder: string,
  environment: Environment,
): Promise<UsageError | null> {
  const { answer } = await npmView([name, 'versions', 'dist-tags'], folder, environment)
  const { versions, 'dist-tags': tags } = (answer ?? {}) as { versions?: unknown; 'dist-tags'?: object }
  const known = textsOf(versions)
  if (known.length === 0 || known.includes(word)) return null
  const newest = newestReleases(known, NEWEST_COUNT)
  const hint = suggestWord(word, Object.keys(tags ?? {}), `the newest are ${newest.join(', ')}`)
  return new UsageError('install', `${name} has no version ${word}; ${hint}`)
}

interface View {
  /** undefined where npm gave none. */
  readonly answer: unknown
  readonly code: string | null
  readonly complaint: string
}

async function npmView(what: readonly string[], folder: string, environment: Environment): Promise<View> {
  const args = ['view', ...what, '--json', ...IMPATIENT]
  const { succeeded, stdout, complaint } = await runNpm(args, folder, environment)
  const said = parsed(stdout)
  if (succeeded) return { answer: said, code: null, complaint }
  const { code = null, summary } = (said as { error?: { code?: string; summary?: string } } | undefined)?.error ?? {}
  return { answer: undefined, code, complaint: summary ?? complaint }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // npm prints nothing where it has nothing to say.
    return undefined
  }
}

/** npm gives a list of one as its element. */
function textsOf(answer: unknown): string[] {
  return [answer].flat().filter((each) => typeof each === 'string')
}
