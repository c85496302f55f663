import { unknown } from '../../domain/suggest.ts'
import type { Target } from '../../domain/target.ts'
import { FileDigests } from '../../files/disk/digest.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import { folderDigest } from '../../models/hugging-face/model-folder.ts'
import type { Case, Judgement, Lab, Suite } from '../../runs/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import type { ExpectedModel } from './found-models.ts'
import { judgeOutput } from './output/judge-output.ts'
import { DOCUMENTED_CLASSES } from './snapshot/documented-files.ts'
import { type SnapshotOwner, snapshotPath } from './snapshot/snapshot-file.ts'
import { judgeUnfused } from './weights/judge-unfused.ts'
import { judgeWeightKeys } from './weights/judge-weight-keys.ts'

const SCOPES = ['output', 'weight_keys', 'unfused'] as const
type ExpectationScope = (typeof SCOPES)[number]

export interface ExpectationsOptions {
  readonly cwd: string
  readonly models: readonly ExpectedModel[]
  readonly targets: readonly Target[]
  /** The targets are defaults, so one that is not available is skipped. */
  readonly areDefaults: boolean
  /** Where the snapshots are. */
  readonly folder: string
  /** The models have three layers. */
  readonly micro: boolean
  readonly capture: boolean
  /** A capture fails, as in the documented tests. */
  readonly strictCapture: boolean
  /** The only case that is captured anew; null: none. */
  readonly update: string | null
  /** The versions of this machine, for snapshots. */
  readonly machine: Readonly<Record<string, string>>
  readonly pool: Pool
  /** Put the content of every folder into the plan, so that shards of different models do not merge. */
  readonly contents: boolean
}

/** What the cases of one run share. */
export interface ExpectationsContext extends ExpectationsOptions {
  readonly digests: FileDigests
}

export interface ExpectationCase extends Case {
  readonly scope: ExpectationScope
  readonly found: ExpectedModel
  readonly owner: SnapshotOwner
  /** Its snapshot. */
  readonly path: string
  readonly underTest: Target
  /** What it gives is written instead of judged. */
  readonly captures: boolean
}

const JUDGES: Readonly<
  Record<ExpectationScope, (c: ExpectationCase, lab: Lab, options: ExpectationsContext) => Promise<Judgement>>
> = { output: judgeOutput, weight_keys: judgeWeightKeys, unfused: judgeUnfused }

/** Judges models by snapshots of what they gave before on the same target. */
export function expectationsSuite(options: ExpectationsOptions): Suite<ExpectationCase> {
  const context: ExpectationsContext = { ...options, digests: new FileDigests() }
  return {
    name: 'expectations',
    async *collect() {
      const cases = options.models.flatMap((found) =>
        options.targets.flatMap((target) => SCOPES.map((scope) => caseOf(found, target, scope, options))),
      )
      for (const c of onlyUpdated(cases, options.update)) {
        const content = options.contents ? await folderDigest(c.found.path, context.digests) : undefined
        yield { ...c, ...(content && { content }) }
      }
    },
    judge: (c, lab) => JUDGES[c.scope](c, lab, context),
  }
}

/** `--update` judges nothing else. */
function onlyUpdated(cases: readonly ExpectationCase[], update: string | null): readonly ExpectationCase[] {
  if (update === null) return cases
  const chosen = cases.filter(({ id, scope }) => id === update && scope !== 'unfused')
  if (chosen.length > 0) return chosen
  const ids = cases.flatMap(({ id, scope }) => (scope === 'unfused' ? [] : [id]))
  throw unknown('update', `--update "${update}"`, update, ids)
}

function caseOf(
  found: ExpectedModel,
  target: Target,
  scope: ExpectationScope,
  options: ExpectationsOptions,
): ExpectationCase {
  const owner = { model: found.name, target: target.name }
  const path = snapshotPath(options.folder, owner)
  return {
    id: `${found.name}/${scope}@${target.name}`,
    suite: 'expectations',
    model: found.name,
    scope,
    reference: 'snapshot',
    target: target.name,
    aliases: [documentedId(found, scope, options)],
    origin: shownPath(found.path, options.cwd),
    affinity: `${found.name}@${target.name}`,
    exclusive: [path],
    found,
    owner,
    path,
    underTest: target,
    captures: options.capture || options.update !== null,
  }
}

/** As pytest names it, with whether it captures. */
function documentedId(
  { given, kind }: ExpectedModel,
  scope: ExpectationScope,
  { capture }: ExpectationsOptions,
): string {
  const parameters = scope === 'unfused' ? given : `${given}-${capture ? 'True' : 'False'}`
  const file = 'tests/models/test_model_expectations.py'
  return `${file}::${DOCUMENTED_CLASSES[kind]}::test_model_${scope}[${parameters}]`
}
