import {
  CASE_OPTIONS,
  CONFIGURATION_OPTIONS,
  EXECUTION_OPTIONS,
  EXPECTED_OPTIONS,
  OUTPUT_OPTIONS,
} from '../../options/common.ts'
import { flag, oneOf, text } from '../../options/kinds.ts'
import { type Option, type OptionGroups, type OptionTable, repeated } from '../../options/table.ts'
import { COMPARISON_OPTIONS, INPUT_OPTIONS, SCOPE_OPTION, SIDE_OPTIONS } from '../tensors/options.ts'
import { LAYER_INPUTS, layerGroups } from './option-kinds.ts'

const LAYER_OPTIONS = repeated({
  layerGroup: {
    flags: '--layer-group <Op+Op>',
    kind: layerGroups,
    default: [],
    help: 'ops to judge as one layer if each feeds only the next, such as Conv+Clip; repeatable',
  },
  layerInputs: {
    flags: '--layer-inputs <how>',
    kind: oneOf(LAYER_INPUTS),
    default: 'reference',
    help: 'reference: the values it computed before each layer; random: made-up values, and equal layers are judged once',
    completes: ['reference', 'random'],
  },
} satisfies OptionTable)

const DUMP_OPTIONS = {
  debugIr: {
    flags: '--debug-ir <folder>',
    kind: text,
    commandLineOnly: true,
    help: 'write every model to this folder, as given and in each form that the target made',
  },
  force: {
    flags: '--force',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'let --debug-ir use a folder that is not empty; only files of an earlier --debug-ir are removed',
  },
} satisfies OptionTable

const SELECTION = { ...SIDE_OPTIONS, ...SCOPE_OPTION, ...LAYER_OPTIONS, ...CASE_OPTIONS }
const OUTPUT = { ...OUTPUT_OPTIONS, ...DUMP_OPTIONS, ...CONFIGURATION_OPTIONS }

/** As `--help` and `assay config` show them. */
export const TEST_GROUPS: OptionGroups = {
  Selection: SELECTION,
  Inputs: INPUT_OPTIONS,
  Comparison: COMPARISON_OPTIONS,
  Execution: EXECUTION_OPTIONS,
  'Expected failures': EXPECTED_OPTIONS,
  Output: OUTPUT,
}

/** Part of documented command lines; nothing here writes such files. */
const WITHOUT_EFFECT = {
  compileProfilingOutputDir: profilingFolder('compile-time'),
  runtimeProfilingOutputDir: profilingFolder('runtime'),
} satisfies OptionTable

function profilingFolder(when: string) {
  return {
    flags: `--torq-${when}-profiling-output-dir <folder>`,
    kind: text,
    commandLineOnly: true,
    withoutEffect: 'no profile is written; the run record has the duration of every stage',
    help: 'does nothing',
  } as const satisfies Option<string>
}

export const TEST_OPTIONS = {
  ...SELECTION,
  ...INPUT_OPTIONS,
  ...COMPARISON_OPTIONS,
  ...EXECUTION_OPTIONS,
  ...EXPECTED_OPTIONS,
  ...OUTPUT,
  ...WITHOUT_EFFECT,
} satisfies OptionTable
