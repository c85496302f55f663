import { resolve } from 'node:path'
import { UsageError } from '../domain/errors.ts'
import type { Target } from '../domain/target.ts'
import { OwnedFolder } from '../files/disk/owned-folder.ts'
import { shownPath } from '../files/disk/shown-path.ts'
import type { Pool } from '../runtimes/host/pool.ts'
import { onnxChoices } from '../settings/onnx-choices.ts'
import { layersSuite } from '../suites/folders/suite.ts'
import type { FormsDump } from '../suites/onnx/forms-dump.ts'
import { onnxSuite } from '../suites/onnx/suite.ts'
import { type Invocation, reproduceOf } from './invocation.ts'
import type { Planned, RunListeners } from './judge-suites.ts'

/** `assay run` judges all that the configuration names; models then only where it names some. */
export async function planAll(
  invocation: Invocation,
  pool: Pool,
  forms: FormsDump | null,
  notice: RunListeners['notice'],
): Promise<Planned> {
  const models = planModels(invocation, pool, forms, notice)
  const others = invocation.command === 'run' ? await planOthers(invocation, pool, notice) : []
  if (others.length === 0) return models
  const all = [...(invocation.loaded.config.models === undefined ? [] : [models]), ...others]
  return {
    suites: all.flatMap(({ suites }) => suites),
    choices: Object.assign({}, ...all.map(({ choices }) => choices)),
  }
}

/** Suites that only a section of the configuration asks for. */
async function planOthers(invocation: Invocation, pool: Pool, notice: RunListeners['notice']): Promise<Planned[]> {
  const { decoders, convergence } = invocation.loaded.config
  const planned: (Planned | null)[] = []
  if (decoders) {
    const { configuredDecoders } = await import('./decoders/judge-decoders.ts')
    planned.push(await configuredDecoders(invocation, pool, notice))
  }
  if (convergence) {
    const { configuredConvergence } = await import('./convergence/judge-convergence.ts')
    planned.push(await configuredConvergence(invocation, convergence, notice))
  }
  return planned.filter((one) => one !== null)
}

const FORMS_OWNER = { option: '--debug-ir', marker: '.assay-debug-ir' }

/** null where no forms were asked for. */
export async function beginDump({ cwd, values }: Invocation, pool: Pool): Promise<FormsDump | null> {
  const { debugIr, force } = values
  if (debugIr === undefined) return null
  const { FormsDump } = await import('../suites/onnx/forms-dump.ts')
  const path = resolve(cwd, debugIr)
  return FormsDump.begin(await OwnedFolder.claim(path, FORMS_OWNER, force, shownPath(path, cwd)), pool)
}

function planModels(
  invocation: Invocation,
  pool: Pool,
  forms: FormsDump | null,
  notice: RunListeners['notice'],
): Planned {
  const { cwd, paths, values, loaded, targets } = invocation
  const choices = onnxChoices(values, loaded.config)
  refuseVariants([targets.reference, ...targets.otherReferences, ...targets.targets])
  const { forFolders, ...forModels } = targets
  const shared = {
    cwd,
    paths,
    ids: invocation.ids,
    only: invocation.only,
    ...forModels,
    ...choices,
    pool,
    contents: values.shard !== undefined,
    reproduce: reproduceOf(invocation),
    notice,
  }
  const suite = onnxSuite(shared)
  return { suites: [forms ? forms.after(suite) : suite, layersSuite({ ...shared, ...forFolders })], choices }
}

/** Judging the file in full precision in its place would say something about another model. */
function refuseVariants(targets: readonly (Target | null)[]): void {
  const asking = targets.find((target) => target?.options.variant !== undefined)
  if (!asking) return
  const text = `target "${asking.name}" has variant=${asking.options.variant}, which chooses among the ONNX files of a decoder's folder`
  throw new UsageError('target', `${text}; give the file itself with model= instead`)
}
