import { type SurveyPart, surveyStretch } from '../../compare/diff/survey.ts'
import { elementCount } from '../../domain/tensor.ts'
import { type FileElements, openFileElements } from '../slices/element-reader.ts'

/** A stretch of two tensors in files, for one thread; can be sent to it. */
export interface SurveyStretch {
  readonly reference: FileElements
  readonly target: FileElements
  readonly shape: readonly number[]
  readonly from: number
  readonly to: number
}

export async function surveyShare({ shape, from, to, ...sides }: SurveyStretch): Promise<SurveyPart> {
  const reference = openFileElements(sides.reference)
  try {
    const target = openFileElements(sides.target)
    try {
      return await surveyStretch({ shape, count: elementCount(shape), reference, target }, from, to)
    } finally {
      target.close()
    }
  } finally {
    reference.close()
  }
}
