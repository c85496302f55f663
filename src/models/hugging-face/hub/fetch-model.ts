import type { Environment } from '../../../domain/environment.ts'
import { FetchLines } from './fetch-lines.ts'
import { type ResolvedModel, resolveModel } from './resolve-model.ts'

type Choices = Pick<Parameters<typeof resolveModel>[1], 'weights' | 'chooseOnnx'>

interface FetchPlace {
  readonly cwd: string
  readonly environment: Environment
  readonly offline: boolean
}

/** A model by path or by Hugging Face id; a line every few seconds says how far a download is. */
export function fetchModel(
  given: string,
  choices: Choices,
  place: FetchPlace,
  notice: (text: string) => void,
): Promise<ResolvedModel> {
  const progress = new FetchLines(notice)
  const onProgress = (state: Parameters<FetchLines['take']>[1]) => progress.take(given, state)
  return resolveModel(given, { ...choices, ...place, notice, onProgress })
}
