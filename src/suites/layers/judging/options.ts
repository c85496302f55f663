import { UsageError } from '../../../domain/errors.ts'
import { type Kind, number, path, text } from '../../../options/kinds.ts'
import { type OptionTable, repeated } from '../../../options/table.ts'

const DEFAULT_MARGIN = 2

const fromOneUp: Kind<number> = {
  ...number,
  expected: 'a number from 1 up',
  read(raw, name, origin) {
    const value = number.read(raw, name, origin)
    if (value >= 1) return value
    throw new UsageError('option', `${name} takes a number from 1 up, found "${raw}"`)
  },
}

/** What layers are judged by; without a file and a baseline they are only measured. */
export const JUDGING_OPTIONS = repeated({
  thresholds: {
    flags: '--thresholds <file>',
    kind: path,
    help: 'file with limits of layers, written by assay thresholds --layer_io; every layer is judged by it',
    completes: 'files',
  },
  baseline: {
    flags: '--baseline <target>',
    kind: text,
    help: 'second trusted target; it computes on the same inputs, and its errors are the limits of the layers',
    completes: 'targets',
  },
  margin: {
    flags: '--margin <x>',
    kind: fromOneUp,
    default: DEFAULT_MARGIN,
    help: 'how many times the error of the baseline, or of the thresholds, a layer may have',
  },
} satisfies OptionTable)
