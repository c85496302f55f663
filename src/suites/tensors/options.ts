import { list, number, text, whole } from '../../options/kinds.ts'
import { type OptionTable, repeated } from '../../options/table.ts'
import { hardwareNames, SCOPES, scopes, targetSpecs } from './option-kinds.ts'

/** What is compared with what, and where both run. */
export const SIDE_OPTIONS = repeated({
  reference: {
    flags: '--reference <target>',
    kind: targetSpecs,
    help: 'trusted target to compare with; if two are given and disagree, the case is inconclusive (default: ort:cpu, or the recorded outputs)',
    completes: 'targets',
  },
  target: {
    flags: '--target <target>',
    kind: targetSpecs,
    help: 'target to test; repeatable (default: ort-web:wasm)',
    completes: 'targets',
  },
  hw: {
    flags: '--hw <types>',
    kind: hardwareNames,
    documented: ['--torq-runtime-hw-type <types>'],
    help: 'hardware type for targets that do not set hw=; refused if one of them uses none; a comma-separated list creates one target per value',
  },
  chip: {
    flags: '--chip <names>',
    kind: hardwareNames,
    documented: ['--torq-chips <names>'],
    help: 'chip for targets that do not set chip=; refused if one of them uses none; a comma-separated list creates one target per value',
  },
  board: {
    flags: '--board <addresses>',
    kind: text,
    documented: ['--torq-addr <addresses>'],
    help: 'board for targets that do not name one, such as root@10.0.0.7; refused if one of them uses none; a comma-separated list creates one target per board',
  },
} satisfies OptionTable)

/** Which parts of a model are judged. */
export const SCOPE_OPTION = repeated({
  scope: {
    flags: '--scope <scopes>',
    kind: scopes,
    default: SCOPES,
    help: 'full: whole models; layers: every layer alone, on the values that the reference computed before it; full,layers: both',
    completes: ['full', 'layers', 'full,layers'],
  },
} satisfies OptionTable)

export const INPUT_OPTIONS = repeated({
  seed: { flags: '--seed <n>', kind: whole(0), default: 0, help: 'seed of generated inputs' },
  dim: {
    flags: '--dim <name=value>',
    kind: list,
    default: [],
    help: 'size of a symbolic dimension; name=1,4 makes several shapes; repeatable',
  },
  input: {
    flags: '--input <name=policy>',
    kind: list,
    default: [],
    help: 'how to fill an input: 0..1, 0.5, file.npy, voiced, text, ones, zeros or normal; repeatable',
  },
} satisfies OptionTable)

export const COMPARISON_OPTIONS = repeated({
  rtol: { flags: '--rtol <x>', kind: number, help: 'relative tolerance instead of the table’s rule' },
  atol: { flags: '--atol <x>', kind: number, help: 'absolute tolerance instead of the table’s rule' },
  allowedMismatch: {
    flags: '--allowed-mismatch <fraction>',
    kind: number,
    help: 'fraction of elements that may be over tolerance',
  },
} satisfies OptionTable)
