import { chooseKernels } from '../compare/kernels/choose.ts'
import { UsageError } from '../domain/errors.ts'
import { describeUnknown, nearest } from '../domain/suggest.ts'
import { environmentName, nameFlag, type OptionSpec } from './table.ts'
import { unreadVariables } from './unread-variables.ts'

const PREFIX = 'ASSAY_'

/** Variables that the program reads itself, without an option. */
const OTHERS = ['ASSAY_KERNELS']

/** Prefix of variables that only Assay's own tests read. */
const OF_TESTS = 'ASSAY_TEST_'

/**
 * Refuses mistyped variables, whose settings would silently keep their default, and unavailable kernels. Says which
 * other variables have no effect; those that an option of this command is `reading` have one.
 */
export function checkEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  specs: readonly OptionSpec[],
  reading: readonly OptionSpec[] = [],
): string[] {
  chooseKernels(environment.ASSAY_KERNELS)
  const settable = specs.filter((spec) => !spec.commandLineOnly).map((spec) => environmentName(spec.key))
  const known = new Set([...settable, ...OTHERS])
  const strangers = Object.keys(environment).filter(
    (name) => name.startsWith(PREFIX) && !name.startsWith(OF_TESTS) && environment[name] !== '' && !known.has(name),
  )
  return [...strangers.map((name) => withoutEffect(name, specs, [...known])), ...unreadVariables(environment, reading)]
}

function withoutEffect(name: string, specs: readonly OptionSpec[], known: readonly string[]): string {
  const unread = specs.find((spec) => environmentName(spec.key) === name)
  if (unread) return `${name} in the environment has no effect: ${nameFlag(unread)} is for the command line only`
  const bare = (variable: string) => variable.slice(PREFIX.length)
  const near = nearest(bare(name), known.map(bare))
  if (near === null) return `${name} in the environment is not an Assay setting and has no effect`
  const text = describeUnknown(`variable ${name} in the environment`, name, [`${PREFIX}${near}`])
  throw new UsageError('environment', `${text} Unset it if it is not for Assay`)
}
