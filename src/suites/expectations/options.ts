import { COMMON_OPTIONS } from '../../options/common.ts'
import { flag, list, path, text } from '../../options/kinds.ts'
import { type OptionGroups, type OptionTable, pick, repeated } from '../../options/table.ts'
import { SIDE_OPTIONS } from '../tensors/options.ts'

export const DEFAULT_FOLDER = 'expectations'

const SNAPSHOTS = {
  expectationsDir: {
    repeated: true,
    flags: '--expectations <folder>',
    kind: path,
    default: DEFAULT_FOLDER,
    help: 'folder of the snapshots, made to be committed; documented files in it are read too',
    completes: 'folders',
  },
  capture: {
    flags: '--capture',
    kind: flag,
    default: false,
    commandLineOnly: true,
    documented: ['--capture_expectation'],
    help: 'write what the models give now, instead of judging it',
  },
  strictCapture: {
    flags: '--strict-capture',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'capture, and let the cases fail, as the documented tests do',
  },
  update: {
    flags: '--update <id>',
    kind: text,
    commandLineOnly: true,
    help: 'capture this one case anew, and show its old figures beside the new ones',
  },
  micro: {
    repeated: true,
    flags: '--micro',
    kind: flag,
    default: false,
    help: 'use the model with three layers and random weights instead',
  },
  model: {
    flags: '--model <folder>',
    kind: list,
    default: [],
    commandLineOnly: true,
    help: 'an additional model; repeatable',
    completes: 'folders',
  },
} satisfies OptionTable

/** What only expectations have. */
export const EXPECTATION_OPTIONS = SNAPSHOTS

export const EXPECTATION_GROUPS: OptionGroups = { Snapshots: SNAPSHOTS }

export const EXPECT_OPTIONS = {
  ...repeated({
    target: {
      ...SIDE_OPTIONS.target,
      help: 'target whose snapshots are meant; repeatable (default: torch:cpu)',
    },
    ...pick(SIDE_OPTIONS, ['hw', 'chip', 'board']),
  }),
  ...SNAPSHOTS,
  ...COMMON_OPTIONS,
} satisfies OptionTable
