import { formatDay } from '../../../domain/expected-failure.ts'
import type { FigureTable } from '../../../domain/result.ts'
import { shownPath } from '../../../files/disk/shown-path.ts'
import { readSettings } from '../../../models/hugging-face/model-folder.ts'
import type { Judgement, Lab } from '../../../runs/contract.ts'
import { captured } from '../output/capture-output.ts'
import { noSnapshot } from '../output/judge-output.ts'
import { describeMachine } from '../output/take-snapshot.ts'
import { testedPath } from '../run-model.ts'
import { type DocumentedFile, readDocumentedKeys } from '../snapshot/documented-files.ts'
import type { WeightKeys } from '../snapshot/schema.ts'
import { readSnapshot, writeSnapshot } from '../snapshot/snapshot-file.ts'
import type { ExpectationCase, ExpectationsContext } from '../suite.ts'
import { compareWeights, explainWeights, type WeightChange } from './compare-weights.ts'
import { explainDocumentedKeys } from './documented-keys.ts'
import { listWeights, type WeightListing } from './list-weights.ts'

/** Compares the names, shapes, element types and contents of all weights with those of the snapshot. */
export async function judgeWeightKeys(c: ExpectationCase, lab: Lab, options: ExpectationsContext): Promise<Judgement> {
  const now = await listWeights(c, lab, options)
  const before = (await readSnapshot(c.path, c.owner))?.weight_keys ?? null
  if (c.captures) return captureKeys(c, before, now, options)
  const { folder, cwd } = options
  const documented = await readDocumentedKeys(folder, c.found.kind, c.found.given)
  if (!before && !documented) throw noSnapshot(c, options)
  const isTied = readSettings(testedPath(c, cwd)).tie_word_embeddings === true
  const other = documented && explainDocumentedKeys(documented.content, Object.keys(now.weights), isTied)
  const shown = documented && { ...documented, path: shownPath(documented.path, cwd) }
  return describe({ before, now, documented: shown, other, path: shownPath(c.path, cwd) })
}

interface JudgedKeys {
  readonly before: WeightKeys | null
  readonly now: WeightListing
  readonly documented: DocumentedFile<readonly string[]> | null
  readonly other: string | null
  readonly path: string
}

function describe({ before, now, documented, other, path }: JudgedKeys): Judgement {
  const changes = before ? compareWeights(before.weights, now.weights) : []
  const expected = before ? Object.keys(before.weights).length : documented!.content.length
  const sentence = changes.length > 0 ? explainWeights(changes, expected) : null
  const reason = [sentence, other].filter((text) => text !== null).join('; ')
  return {
    verdict: reason === '' ? 'pass' : 'fail',
    ...(reason !== '' && { reason }),
    flags: [],
    coverage: { compared: expected, expected },
    metrics: [],
    outputs: [],
    worst: [],
    ...(changes.length > 1 && { table: tabulate(changes) }),
    measurements: {
      weights: Object.keys(now.weights).length,
      source: now.source,
      ...(before && { snapshot: path, captured: before.captured }),
      ...(documented && { documented: documented.path }),
    },
  }
}

const SHOWN = 10

function tabulate(changes: readonly WeightChange[]): FigureTable {
  const title = changes.length > SHOWN ? `first ${SHOWN} of ${changes.length} weights` : 'weight'
  return { head: [title, ''], rows: changes.slice(0, SHOWN).map(({ name, what }) => [name, what]) }
}

async function captureKeys(
  c: ExpectationCase,
  before: WeightKeys | null,
  now: WeightListing,
  options: ExpectationsContext,
): Promise<Judgement> {
  const changes = before ? compareWeights(before.weights, now.weights) : []
  const count = Object.keys(now.weights).length
  const isSame = before !== null && changes.length === 0
  if (!isSame || options.update !== null) {
    const taken = { captured: formatDay(new Date()), environment: describeMachine(options.machine), ...now }
    await writeSnapshot(c.path, c.owner, { weight_keys: taken })
  }
  const path = shownPath(c.path, options.cwd)
  return {
    ...captured(reasonOf(before, changes, path), 'Weights Key', options),
    flags: [],
    coverage: { compared: count, expected: count },
    ...(changes.length > 0 && { table: tabulate(changes) }),
    measurements: { weights: count, source: now.source, snapshot: path },
  }
}

function reasonOf(before: WeightKeys | null, changes: readonly WeightChange[], path: string): string {
  if (!before) return `saved in ${path}`
  if (changes.length === 0) return `what ${path} has of ${before.captured} is unchanged`
  return `renewed in ${path}: ${explainWeights(changes, Object.keys(before.weights).length)}`
}
