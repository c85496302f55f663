import { UsageError } from '../domain/errors.ts'
import type { OptionValue } from './options.ts'

/** The options that only convergence has, typed. */
export interface ConvergeValues {
  readonly testConfigPath: string
  readonly storagePath: string
  readonly gather: boolean
  readonly manifestName: string
  readonly root: string | undefined
  readonly seeds: readonly number[]
  readonly startOver: boolean
  readonly dryRun: boolean
}

export function convergeValues(raw: Readonly<Record<string, OptionValue>>): ConvergeValues {
  const { testConfigPath, storagePath, gather, manifestName, root, seeds, startOver, dryRun } = raw
  return {
    testConfigPath: needed(testConfigPath, '-t', 'the configuration of the tests (YAML)'),
    storagePath: needed(storagePath, '-s', 'the folder of checkpoints and manifests'),
    gather: gather === true,
    manifestName: checkedName(String(manifestName)),
    root: root === undefined ? undefined : String(root),
    seeds: seedsOf(seeds),
    startOver: withGather(startOver === true, gather === true),
    dryRun: dryRun === true,
  }
}

function needed(value: OptionValue, flag: string, what: string): string {
  if (value !== undefined && value !== '') return String(value)
  throw new UsageError(
    'converge',
    `assay converge needs ${flag}: ${what}; write assay converge -t tests.yml -s storage`,
  )
}

function checkedName(name: string): string {
  if (name !== '' && !/[/\\]|^\.\.?$/.test(name)) return name
  throw new UsageError('converge', `--manifest-name takes the name of a file in the storage, found "${name}"`)
}

function withGather(startOver: boolean, gather: boolean): boolean {
  if (!startOver || gather) return startOver
  throw new UsageError('converge', '--start-over goes with -g, which gathers')
}

const MOST_SEEDS = 1000

/** `5` is 1 to 5; `1,2,7` are those, and `7,` is 7 alone. */
function seedsOf(value: OptionValue): number[] {
  if (value === undefined) return []
  const isList = String(value).includes(',')
  const words = String(value)
    .replace(/,\s*$/, '')
    .split(',')
    .map((word) => word.trim())
  const numbers = words.map(Number)
  if (words.some((word) => !/^\d+$/.test(word)) || numbers.some((seed) => !Number.isSafeInteger(seed))) {
    throw new UsageError('converge', `--seeds takes how many, such as 5, or a list such as 1,2,3; found "${value}"`)
  }
  const [count] = numbers
  const seeds = isList ? numbers : Array.from({ length: Math.min(count!, MOST_SEEDS + 1) }, (_, i) => i + 1)
  if (new Set(seeds).size !== seeds.length) throw new UsageError('converge', `--seeds ${value} names a seed twice`)
  if (seeds.length > 0 && seeds.length <= MOST_SEEDS) return seeds
  throw new UsageError('converge', `--seeds takes 1 to ${MOST_SEEDS} seeds, found "${value}"`)
}
