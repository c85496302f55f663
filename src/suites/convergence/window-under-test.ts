import type { CheckpointFacts, Manifest, ManifestEntry, Sidecar } from './config/contract.ts'
import type { PlannedTest } from './planned-test.ts'

/** One recording of a manifest, to be done again. */
export interface WindowUnderTest {
  readonly planned: PlannedTest
  readonly entry: ManifestEntry
  readonly sidecar: Sidecar | null
  /** How many windows of this test are judged. */
  readonly windows: number
  /** Metrics that some window of the manifest has. */
  readonly recorded: ReadonlySet<string>
}

export function readCheckpointFacts({ entry, sidecar }: WindowUnderTest): CheckpointFacts | undefined {
  return sidecar?.checkpoints[entry.startStep]
}

/** Names of all metrics that some step of some window has. */
export function listMetrics(manifest: Manifest): Set<string> {
  const steps = manifest.flatMap(({ results }) => [...results.values()])
  return new Set(steps.flatMap((logged) => Object.keys(logged)))
}

/** A metric that is logged only sometimes is judged in the windows that have it; one that no window has was not gathered. */
export function chooseRules({ planned, entry, recorded }: WindowUnderTest): PlannedTest['test']['rules'] {
  const here = listMetrics([entry])
  const rules = Object.entries(planned.test.rules).filter(([name]) => here.has(name) || !recorded.has(name))
  return rules.length === 0 ? planned.test.rules : Object.fromEntries(rules)
}
