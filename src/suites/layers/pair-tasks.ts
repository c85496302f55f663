import type { PaddingMask } from '../../compare/layers/real-positions.ts'
import type { Trace } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import type { Lab } from '../../runs/contract.ts'
import type { CaptureTask } from '../../runtimes/host/capture-task.ts'
import type { JointSink } from '../../runtimes/host/joint-capture.ts'
import type { PairedStreams } from './paired-streams.ts'
import { SIDES, sideTask } from './sides.ts'
import type { LayersCase, LayersSuiteContext } from './suite.ts'

/** What both sides compute on, and for whom. */
export interface PairRequest {
  readonly c: LayersCase
  readonly lab: Lab
  readonly options: LayersSuiteContext
  readonly inputs: Trace
  readonly mask: PaddingMask | null
}

export function taskOf({ c, lab, options, inputs }: PairRequest, side: Side, taps: readonly string[]): CaptureTask {
  return { ...sideTask(c, side, lab, options), inputs, taps }
}

export function sinkInto(streams: PairedStreams): JointSink {
  return {
    sinks: SIDES.map((side) => (chunk) => streams.take(side, chunk)),
    ended: (run) => streams.end(SIDES[run]!),
    failed: (error) => streams.stop(error),
  }
}
