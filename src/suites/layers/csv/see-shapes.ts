import type { TensorSink } from '../../../domain/tensor.ts'
import { type PairRequest, taskOf } from '../pair-tasks.ts'
import { decodeRequest } from '../prompted/choose-tokens.ts'
import type { MeasuredText } from '../prompted/measure-decoding.ts'
import { layerTaps, sideTask } from '../sides.ts'
import type { StepShapes } from './case-csv.ts'

const TITLE = 'see how much every layer gives'

/** The reference computes once more, and nothing of it is kept but shapes. */
export async function seeForward(request: PairRequest): Promise<StepShapes> {
  const { lab, options } = request
  let first: (readonly number[])[] = []
  await lab.step({ title: TITLE, stage: 'run', side: 'reference', key: null, files: false }, async () => {
    await options.pool.captureTogether([taskOf(request, 'reference', layerTaps(options))], () => {
      first = []
      return { sinks: [shapesInto(() => first)], ended: () => {}, failed: () => {} }
    })
  })
  return { first, later: [], laterSteps: 0 }
}

/** Of the prompt and of the token after it; later tokens give about as much. */
export async function seeSteps({ padded, tokens, ...request }: MeasuredText): Promise<StepShapes> {
  const { lab, options } = request
  const steps: (readonly number[])[][] = [[], []]
  let step = 0
  const asked = decodeRequest(padded, Math.min(2, tokens.length))
  const taps = shapesInto(() => steps[step]!)
  const task = { ...sideTask(request, 'reference'), taps: layerTaps(request.options), request: { ...asked, taps } }
  await lab.step({ title: TITLE, stage: 'run', side: 'reference', key: null, files: false }, async () => {
    await options.pool.decode([task], async ([decoding]) => {
      for (step = 0; step < asked.newTokens; step++) {
        steps[step] = []
        await decoding!.steps.next()
      }
    })
  })
  return { first: steps[0]!, later: steps[1]!, laterSteps: tokens.length - 1 }
}

/** Drops the values. */
function shapesInto(list: () => (readonly number[])[]): TensorSink {
  return async ({ shape, offset }) => {
    if (offset === 0) list().push(shape)
  }
}
