import { availableParallelism } from 'node:os'
import { joinSurveys, type Survey, type SurveyPart } from '../../compare/diff/survey.ts'
import { elementCount, type TensorSource } from '../../domain/tensor.ts'
import { surveyShare } from './survey-share.ts'
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
  if (!reference.file || !target.file) return null
  const count = elementCount(reference.shape)
  const parts = Math.max(1, Math.min(threads, Math.floor(count / elementsPerThread)))
  const sides = {
    reference: { file: reference.file, dtype: reference.dtype, byteLength: reference.byteLength },
    target: { file: target.file, dtype: target.dtype, byteLength: target.byteLength },
    shape: reference.shape,
  }
  const stretches = Array.from({ length: parts }, (_, i) => ({
    ...sides,
    from: Math.floor((i * count) / parts),
    to: Math.floor(((i + 1) * count) / parts),
  }))
  return surveyAll(stretches)
}

/** This thread does its share too. */
async function surveyAll([own, ...others]: readonly Parameters<typeof surveyShare>[0][]): Promise<Survey> {
  const asked = others.map((stretch) => askThread<SurveyPart>({ kind: 'survey', stretch }))
  return joinSurveys(await Promise.all([surveyShare(own!), ...asked]))
}
