import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Result } from '../../domain/result.ts'
import type { Reporter, RunEvent } from '../../domain/run.ts'
import type { Case, Judgement, Lab, Suite } from '../contract.ts'
import type { RunRequest } from '../execute/execute.ts'

export function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), 'assay-runs-'))
}

/** A content key from a short name. */
export function makeKey(name: string): string {
  return name.padEnd(16, '0')
}

export function tinyCase(id: string, more: Partial<Case> = {}): Case {
  const parts = { suite: 'tiny', model: id, scope: 'full_model', reference: 'a', target: 'b', affinity: '' }
  return { id, ...parts, aliases: [], ...more }
}

export const PASS: Judgement = {
  verdict: 'pass',
  flags: [],
  coverage: { compared: 1, expected: 1 },
  metrics: [],
  outputs: [],
  worst: [],
  measurements: {},
}

export const FAIL: Judgement = { ...PASS, verdict: 'fail', reason: 'differs' }

export function tinyResult(id: string, more: Partial<Result> = {}): Result {
  const { aliases: _aliases, affinity: _affinity, ...parts } = tinyCase(id)
  return { ...parts, ...PASS, reproduce: 'assay test', durationsMs: {}, steps: [], artifacts: [], ...more }
}

type Judge = (c: Case, lab: Lab) => Promise<Judgement>

export function tinySuite(cases: readonly (string | Case)[], judge: Judge = async () => PASS): Suite {
  return {
    name: 'tiny',
    async *collect() {
      for (const c of cases) yield typeof c === 'string' ? tinyCase(c) : c
    },
    judge,
  }
}

export function runRequest(folder: string, suite: Suite, more: Partial<RunRequest> = {}): RunRequest {
  return {
    suites: [suite],
    runsFolder: join(folder, 'runs'),
    cacheFolder: join(folder, 'cache'),
    reporters: [],
    environment: { node: 'v20' },
    options: {},
    jobs: 1,
    reproduce: (id) => `assay test -k ${id}`,
    ...more,
  }
}

export class EventLog implements Reporter {
  readonly events: RunEvent[] = []
  onEvent(event: RunEvent): void {
    this.events.push(event)
  }
  /** One short word per event. */
  get words(): string[] {
    return this.events.map((event) => {
      if (event.type === 'case-end') return `end ${event.result.id} ${event.done}/${event.total}`
      if (event.type === 'case-start') return `start ${event.id}`
      if (event.type === 'step-start') return `step ${event.id} ${event.title}`
      return event.type
    })
  }
}
