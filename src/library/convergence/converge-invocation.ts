import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { resolveOptions } from '../../options/resolve.ts'
import { CONVERGENCE_OPTIONS } from '../../settings/converge-options.ts'
import { type ConvergeValues, convergeValues } from '../../settings/converge-values.ts'
import { readConvergenceTests } from '../../suites/convergence/config/read-tests.ts'
import type { PlannedTest } from '../../suites/convergence/planned-test.ts'
import { Storage } from '../../suites/convergence/storage/storage.ts'
import { type Asked, type Invocation, invocationOf } from '../invocation.ts'
import type { RunListeners } from '../judge-suites.ts'

/** What was asked for of training programs. */
export interface ConvergeInvocation extends Invocation {
  readonly converge: ConvergeValues
}

export async function convergeInvocation(asked: Asked): Promise<ConvergeInvocation> {
  const { options, environment } = asked
  const { values } = resolveOptions(CONVERGENCE_OPTIONS, { commandLine: options, environment, file: {} })
  const converge = convergeValues(values)
  const invocation = await invocationOf({ ...asked, paths: [] })
  return { ...invocation, converge, more: wordsOf(converge) }
}

/** The options again, for the command that judges a case alone. */
function wordsOf({ testConfigPath, storagePath, gather, manifestName, root, seeds }: ConvergeValues): string[] {
  const isNamed = manifestName !== CONVERGENCE_OPTIONS.manifestName.default
  return [
    ...['-t', testConfigPath, '-s', storagePath],
    ...(gather ? ['-g'] : []),
    ...(isNamed ? ['--manifest-name', manifestName] : []),
    ...(root === undefined ? [] : ['--root', root]),
    ...(seeds.length > 0 ? ['--seeds', CONVERGENCE_OPTIONS.seeds.kind.write(seeds)] : []),
  ]
}

type Told = Pick<RunListeners, 'notice' | 'onOutput'>

/** The tests of the configuration, with where they run and where they are kept; paths in `asked` begin at `base`. */
export async function plannedTests(
  { cwd, environment }: Pick<Invocation, 'cwd' | 'environment'>,
  asked: Omit<ConvergeValues, 'gather' | 'seeds' | 'startOver' | 'dryRun'>,
  { notice, onOutput }: Told,
  base = cwd,
): Promise<PlannedTest[]> {
  const { testConfigPath, storagePath, manifestName, root } = asked
  const path = resolve(base, testConfigPath)
  const tests = await readConvergenceTests(path, cwd)
  for (const { name, warnings } of tests) for (const warning of warnings) notice(`${name}: ${warning}`)
  const workFolder = root === undefined ? (gitRootOf(path) ?? base) : resolve(base, root)
  const folder = resolve(base, storagePath)
  return tests.map((test) => ({
    test,
    cwd: resolve(workFolder, test.directory),
    environment,
    storage: new Storage(folder, test, cwd, manifestName),
    tell: once((text) => notice(`${test.name}: ${text}`)),
    ...(onOutput && { onOutput }),
  }))
}

/** Each text the first time. */
function once(say: (text: string) => void): (text: string) => void {
  const said = new Set<string>()
  return (text) => {
    if (!said.has(text)) say(text)
    said.add(text)
  }
}

function gitRootOf(path: string): string | null {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (folder === dirname(folder)) return null
  }
}
