import type { LoggedMetrics, Recording } from '../../domain/convergence.ts'
import { formatNumber } from '../../domain/text.ts'
import type { Sidecar } from '../../files/convergence/contract.ts'
import type { Judgement, Lab } from '../../runs/contract.ts'
import { sampleWindow } from './gather-samples.ts'
import { replayAll, type WindowUnderTest } from './judge-replay.ts'
import type { ConvergenceOptions } from './planned-test.ts'
import { wholeRecording } from './whole-recording.ts'

/** Replays a window and puts what it gave into the manifest; a replay that is not whole is never taken. */
export async function renewWindow(
  id: string,
  window: WindowUnderTest,
  lab: Lab,
  { seeds, reproduce }: Pick<ConvergenceOptions, 'reproduce' | 'seeds'>,
): Promise<Judgement> {
  const { planned, entry } = window
  const [replay] = await replayAll(window, lab, [])
  const results = onlySteps(wholeRecording(window, replay!), entry.results)
  await planned.storage.change((manifest, sidecar) => [
    manifest.map((other) => (other.startStep === entry.startStep ? { ...other, results } : other)),
    sidecar && renewedSidecar(sidecar, entry.startStep),
  ])
  if (seeds.length > 0 && planned.test.flags.run.seed)
    await sampleWindow({ ...window, entry: { ...entry, results } }, seeds, lab)
  const changes = changesOf(entry.results, results)
  return {
    verdict: 'captured',
    flags: [],
    coverage: { compared: 0, expected: 0 },
    metrics: [],
    outputs: [],
    worst: [],
    figures: [...(changes.length > 0 ? changes : ['as it was recorded']), ...forgotten(window, seeds)],
    measurements: { 'target.command': replay!.argv.join(' ') },
    reproduce: reproduce(id),
  }
}

function onlySteps(recording: Recording, wanted: Recording): Recording {
  return new Map([...recording].filter(([step]) => wanted.has(step)))
}

/** What other seeds gave belongs to what was there before. */
function renewedSidecar(sidecar: Sidecar, startStep: number): Sidecar {
  const facts = sidecar.checkpoints[startStep]
  const renewal = { at: new Date().toISOString(), startSteps: [startStep] }
  return {
    ...sidecar,
    checkpoints: { ...sidecar.checkpoints, ...(facts && { [startStep]: { ...facts, samples: [] } }) },
    renewals: [...sidecar.renewals, renewal],
  }
}

function forgotten({ entry, sidecar }: WindowUnderTest, seeds: readonly number[]): string[] {
  const samples = sidecar?.checkpoints[entry.startStep]?.samples.length ?? 0
  if (samples === 0 || seeds.length > 0) return []
  return [
    `its ${samples} samples of other seeds are no longer of this program and were dropped; --seeds gathers new ones`,
  ]
}

/** A line for every metric and label that changed, with its largest change. */
function changesOf(before: Recording, after: Recording): string[] {
  const changes = new Map<string, { step: number; from: number; to: number; changed: number; of: number }>()
  for (const [step, metrics] of before) {
    for (const [name, from, to] of pairsOf(metrics, after.get(step) ?? {})) {
      const known = changes.get(name) ?? { step, from, to, changed: 0, of: 0 }
      const isLarger = partOf(from, to) > partOf(known.from, known.to)
      const changed = known.changed + (from === to ? 0 : 1)
      changes.set(name, { ...known, ...(isLarger && { step, from, to }), changed, of: known.of + 1 })
    }
  }
  return [...changes].filter(([, { changed }]) => changed > 0).map(([name, change]) => changeText(name, change))
}

function partOf(from: number, to: number): number {
  return Math.abs(from === 0 ? to : (to - from) / from)
}

function* pairsOf(before: LoggedMetrics, after: LoggedMetrics): Iterable<readonly [string, number, number]> {
  for (const [metric, labels] of Object.entries(before)) {
    for (const [label, text] of Object.entries(labels)) {
      const name = Object.keys(labels).length === 1 && /^\d+$/.test(label) ? metric : `${metric}.${label}`
      yield [name, Number(text), Number(after[metric]?.[label])]
    }
  }
}

function changeText(
  name: string,
  { step, from, to, changed, of }: { step: number; from: number; to: number; changed: number; of: number },
): string {
  const percent = from === 0 ? '' : ` (${to >= from ? '+' : '−'}${formatNumber(partOf(from, to) * 100)} %)`
  return `${name}: ${formatNumber(from)} → ${formatNumber(to)}${percent} at step ${step}, ${changed} of ${of} steps changed`
}
