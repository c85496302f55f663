import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isGlob } from '../files/disk/glob.ts'
import type { FormsDump } from '../suites/onnx/forms-dump.ts'
import { refuseMissing } from '../suites/tensors/discover-models.ts'
import type { Invocation } from './invocation.ts'
import type { JudgedOutcome, ListedCases, RunListeners } from './judge-suites.ts'

export interface JudgedModels extends JudgedOutcome {
  /** What `--debug-ir` wrote. */
  readonly forms?: FormsDump
}

/** Judges ONNX models and Hugging Face folders, and for `assay run` all else that the configuration names. */
export async function judgeOnnx(asked: Invocation, listeners: RunListeners): Promise<JudgedModels> {
  const invocation = await located(asked, listeners.notice)
  if (invocation.command === 'test') refuseMissing(invocation.paths, invocation.cwd)
  const [{ judgeSuites }, { beginDump, planAll }] = await judging()
  let forms: FormsDump | null = null
  const outcome = await judgeSuites(invocation, listeners, async (pool) => {
    forms = await beginDump(invocation, pool)
    return planAll(invocation, pool, forms, listeners.notice)
  })
  return withForms(outcome, forms)
}

/** Most of our code: a mistake in the command line is answered without it. */
function judging() {
  return Promise.all([import('./judge-suites.ts'), import('./plan-onnx.ts')])
}

function withForms(outcome: JudgedOutcome, forms: FormsDump | null): JudgedModels {
  return forms ? { ...outcome, forms, problems: [...outcome.problems, ...forms.problems] } : outcome
}

/** The plan of an invocation; nothing runs. */
export async function planOnnx(asked: Invocation, notice: RunListeners['notice']): Promise<ListedCases> {
  const invocation = await located(asked, notice)
  const [{ listSuites }, { planAll }] = await judging()
  return listSuites(invocation, notice, (pool) => planAll(invocation, pool, null, notice))
}

async function located(invocation: Invocation, notice: RunListeners['notice']): Promise<Invocation> {
  const { paths, cwd } = invocation
  if (paths.every((path) => existsSync(resolve(cwd, path)) || isGlob(path))) return invocation
  return (await import('./hub-models.ts')).withHubModels(invocation, notice)
}
