import type { PaddingMask } from '../../compare/layers/real-positions.ts'
import type { Trace } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import type { DecoderShape } from '../../models/prompts/decoder-shapes.ts'
import type { CaptureTask } from '../../runtimes/host/capture-task.ts'
import type { JointSink } from '../../runtimes/host/joint-capture.ts'
import type { PairedStreams } from './paired-streams.ts'
import { type CaseRequest, SIDES, sideTask } from './sides.ts'

/** What both sides compute on, and for whom. */
export interface PairRequest extends CaseRequest {
  readonly inputs: Trace
  readonly mask: PaddingMask | null
}

/** How large the inputs are, in the words of decoders. */
export function sizeOf({ c, inputs }: Pick<PairRequest, 'c' | 'inputs'>): DecoderShape {
  if (typeof c.prompted !== 'string') return c.prompted.shape
  const [first] = inputs.tensors.values()
  const [batchSize = 1, promptLength = 0] = first?.shape ?? []
  return { batchSize, promptLength, newTokens: 0 }
}

export function taskOf(request: PairRequest, side: Side, taps: readonly string[]): CaptureTask {
  return { ...sideTask(request, side), inputs: request.inputs, taps }
}

export function sinkInto(streams: PairedStreams): JointSink {
  return {
    sinks: SIDES.map((side) => (chunk) => streams.take(side, chunk)),
    ended: (run) => streams.end(SIDES[run]!),
    failed: (error) => streams.stop(error),
  }
}
