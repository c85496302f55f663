import { availableParallelism } from 'node:os'
import { joinSurveys, type Survey, type SurveyPart } from '../../compare/diff/survey.ts'
import { elementCount, type TensorSource } from '../../domain/tensor.ts'
import { type SurveyStretch, surveyShare, type TensorInFile } from './survey-share.ts'
import { askThread } from './thread-pool.ts'

/** A thread costs about as much time to start as surveying so many elements. */
const ELEMENTS_PER_THREAD = 1 << 23

/** Surveys two tensors with as many threads as pay off; null if a side's bytes are not in a file unchanged. */
export function surveyFiles(
  reference: TensorSource,
  target: TensorSource,
  threads = availableParallelism(),
  elementsPerThread = ELEMENTS_PER_THREAD,
): Promise<Survey> | null {
  const [r, t] = [findInFile(reference), findInFile(target)]
  if (!r || !t) return null
  const count = elementCount(reference.shape)
  const parts = Math.max(1, Math.min(threads, Math.floor(count / elementsPerThread)))
  const stretches = Array.from({ length: parts }, (_, i) => ({
    reference: r,
    target: t,
    from: Math.floor((i * count) / parts),
    to: Math.floor(((i + 1) * count) / parts),
  }))
  return surveyAll(stretches)
}

/** What can be sent to a thread. */
function findInFile({ dtype, shape, byteLength, file }: TensorSource): TensorInFile | null {
  return file ? { dtype, shape, byteLength, file } : null
}

/** This thread does its share too. */
async function surveyAll([own, ...others]: readonly SurveyStretch[]): Promise<Survey> {
  const asked = others.map((stretch) => askThread<SurveyPart>({ kind: 'survey', stretch }))
  return joinSurveys(await Promise.all([surveyShare(own!), ...asked]))
}
