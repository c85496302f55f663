import type { Environment } from '../../domain/environment.ts'
import { DEFAULT_REFERENCE } from '../../suites/tensors/targets/chosen-targets.ts'
import { withSurvey } from './diagnose.ts'
import { surveyRuntimes } from './survey.ts'

/** What could be under test in a folder, now or after the first run has installed it. */
export async function targetsHere(folder: string, environment: Environment): Promise<string[]> {
  const reports = await withSurvey({ folder, environment }, () => {}, surveyRuntimes)
  const usable = reports.filter(({ state }) => state === 'ready' || state === 'first-use')
  return usable.map(({ target }) => target).filter((target) => target !== DEFAULT_REFERENCE)
}
