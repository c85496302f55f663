import { withElements } from '../../compare/diff/element-reader.ts'
import { type SurveyPart, surveyStretch } from '../../compare/diff/survey.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import type { FilePart } from '../disk/file-part.ts'
import { openFileBytes } from '../slices/open-bytes.ts'

/** A tensor whose bytes are in a file unchanged. */
export interface TensorInFile extends Pick<TensorSource, 'dtype' | 'shape' | 'byteLength'> {
  readonly file: FilePart
}

/** A stretch of two tensors in files, for one thread; can be sent to it. */
export interface SurveyStretch {
  readonly reference: TensorInFile
  readonly target: TensorInFile
  readonly from: number
  readonly to: number
}

const open = async ({ file, byteLength }: TensorInFile) => openFileBytes(file, byteLength)

export function surveyShare({ reference, target, from, to }: SurveyStretch): Promise<SurveyPart> {
  return withElements(reference, target, open, (pair) => surveyStretch(pair, from, to))
}
