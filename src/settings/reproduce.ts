import { redactText } from '../domain/redact.ts'
import { shellWord } from '../domain/shell.ts'
import { flagOf, type Option } from '../options/table.ts'
import { TEST_OPTIONS } from './option-table.ts'
import type { TestValues } from './test-values.ts'

/** What is the same for all cases of an invocation. */
export interface Invoked {
  readonly command: 'test' | 'run' | 'decoders test' | 'decoders baseline' | 'converge'
  readonly paths: readonly string[]
  readonly values: TestValues
  readonly config: string | null
  /** Options that only this command has, as words. */
  readonly more?: readonly string[]
}

/** The command line that judges just this case again, for a POSIX shell; secrets among the arguments are left out. */
export function reproduceCommand(id: string, { command, paths, values, config, more = [] }: Invoked): string {
  const repeated = (flag: string, list: readonly string[] = []) => list.flatMap((value) => [flag, value])
  const single = (flag: string, value: string | number | undefined) =>
    value === undefined ? [] : [flag, String(value)]
  const words = [
    'assay',
    ...command.split(' '),
    ...paths,
    ...single('--config', config ?? undefined),
    ...(values.noConfig ? ['--no-config'] : []),
    ...repeated('--reference', values.reference?.map(redactText)),
    ...repeated('--target', values.target?.map(redactText)),
    ...single('--hw', values.hw),
    ...single('--chip', values.chip),
    ...single('--board', values.board),
    ...unlessDefault(values, DECISIVE[command] ?? OF_ALL),
    ...single('--expected', values.expected),
    ...single('--python', values.python),
    ...repeated('--layer-group', values.layerGroup),
    ...repeated('--dim', values.dim),
    ...repeated('--input', values.input),
    ...single('--rtol', values.rtol),
    ...single('--atol', values.atol),
    ...single('--allowed-mismatch', values.allowedMismatch),
    ...more,
    // There -t is the configuration of the tests.
    command === 'converge' ? '--pattern' : '-t',
    `^${id.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`,
  ]
  return words.map(shellWord).join(' ')
}

/** What decides about results of every command. */
const OF_ALL = ['seed', 'timeout', 'memoryLimit', 'outputLimit', 'isolate'] as const

const OF_TENSORS = ['scope', 'layerInputs', ...OF_ALL] as const

/** Of these commands other options than those of all. */
const DECISIVE: Partial<Record<Invoked['command'], readonly Decisive[]>> = {
  test: OF_TENSORS,
  run: OF_TENSORS,
  converge: [],
}

type Decisive = (typeof OF_TENSORS)[number]

function unlessDefault(values: TestValues, keys: readonly Decisive[]): string[] {
  return keys.flatMap((key) => {
    const option: Option = TEST_OPTIONS[key]
    const value = values[key]
    return value === undefined || value === option.default ? [] : [flagOf(option), String(value)]
  })
}
