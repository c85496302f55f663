import type { TensorDiff } from '../../compare/diff/diff-tensors.ts'
import type { Picture } from '../../compare/diff/picture.ts'
import type { Grid } from '../../compare/slice/grid.ts'
import { toJson } from '../../domain/json.ts'
import type { PairsDiff } from '../../files/slices/diff-pairs.ts'
import type { RunsDiff } from '../../runs/record/diff-runs.ts'
import type { StoredRun } from '../../runs/record/read-run.ts'
import type { SideLabels } from './tensor-lines.ts'

const SCHEMA = 'assay/diff@1'

/** All that is known of pairs of tensors as one JSON document. */
export function pairsJson({ reference, target }: SideLabels, { outputs, diffs }: PairsDiff): string {
  const isSame = outputs.every(({ verdict }) => verdict === 'pass')
  return `${toJson({ schema: SCHEMA, kind: 'tensors', reference, target, verdict: isSame ? 'pass' : 'fail', outputs, tensors: diffs.map(plainDiff) })}\n`
}

/** Typed arrays would become objects. */
function plainDiff({ axes, picture, ...rest }: TensorDiff): object {
  return {
    ...rest,
    axes: axes.map(({ sums, ...axis }) => ({ ...axis, squaredErrors: Array.from(sums) })),
    picture: picture && plainPicture(picture),
  }
}

function plainPicture({ grid, error, reference, target, ...rest }: Picture): object {
  const layout = plainLayout(grid)
  return { layout, ...rest, error: Array.from(error), reference: Array.from(reference), target: Array.from(target) }
}

function plainLayout({ index, rowAxis, colAxis, rows, cols, first, rowStride, colStride }: Grid): object {
  return { fixed: index, rowAxis, columnAxis: colAxis, rows, columns: cols, first, rowStride, columnStride: colStride }
}

export function runsJson([first, second]: readonly [StoredRun, StoredRun], diff: RunsDiff): string {
  const runs = { reference: first.header.id, target: second.header.id }
  return `${toJson({ schema: SCHEMA, kind: 'runs', ...runs, ...diff })}\n`
}
