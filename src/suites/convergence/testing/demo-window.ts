import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoggedMetrics, Recording } from '../../../domain/convergence.ts'
import type { ConvergenceTest, ManifestEntry, Sidecar } from '../config/contract.ts'
import { readConvergenceTests } from '../config/read-tests.ts'
import type { PlannedTest } from '../planned-test.ts'
import type { ProgramOutcome } from '../program/contract.ts'
import type { Replay } from '../replay.ts'
import { Storage } from '../storage/storage.ts'
import { listMetrics, type WindowUnderTest } from '../window-under-test.ts'
import { type ConfigChange, DEMO_PROGRAM, demoConfig } from './demo-training.ts'

/** The demo in a folder of its own; nothing is gathered yet. */
export async function demoPlan(changes: readonly ConfigChange[] = []): Promise<PlannedTest> {
  const cwd = mkdtempSync(join(tmpdir(), 'assay-demo-'))
  writeFileSync(join(cwd, 'program.mjs'), DEMO_PROGRAM)
  return planIn(cwd, join(cwd, 'storage'), changes)
}

/** As somebody would plan it who has the program in `cwd`. */
export function planIn(cwd: string, folder: string, changes: readonly ConfigChange[] = []): Promise<PlannedTest> {
  return planTest(demoConfig(...changes), cwd, folder)
}

export async function planTest(text: string, cwd: string, folder: string): Promise<PlannedTest> {
  const config = join(cwd, 'tests.yml')
  writeFileSync(config, text)
  const [test] = (await readConvergenceTests(config, cwd)) as [ConvergenceTest]
  const storage = new Storage(folder, test, cwd)
  mkdirSync(storage.checkpoints, { recursive: true })
  return { test, cwd, environment: process.env, storage }
}

/** The same plan for a program with these variables. */
export function withVariables(planned: PlannedTest, environment: Readonly<Record<string, string>>): PlannedTest {
  return { ...planned, test: { ...planned.test, environment } }
}

/** What the program logs at a step; `shift` makes it worse, more so with every step. */
export function demoStep(step: number, shift = 0): LoggedMetrics {
  const loss = (10 / (step + 1)) * (1 + shift * (step + 1))
  return {
    loss: { main: String(loss), penalty: String(loss / 10) },
    accuracy: { 0: String(1 - 1 / (step + 2)) },
  }
}

export function demoSteps(from: number, to: number, shift = 0): Recording {
  return new Map(Array.from({ length: to - from + 1 }, (_, i) => [from + i, demoStep(from + i, shift)]))
}

/** The window after the save of step 3. */
export function demoEntry(results: Recording = demoSteps(4, 6)): ManifestEntry {
  return { checkpoint: 'ckpts/model_3.ckpt', startStep: 3, results }
}

export function demoWindow(planned: PlannedTest, more: Partial<WindowUnderTest> = {}): WindowUnderTest {
  const entry = more.entry ?? demoEntry()
  return { planned, entry, sidecar: null, windows: 1, recorded: listMetrics([entry]), ...more }
}

/** A program that ended well. */
export const WELL: ProgramOutcome = {
  ending: 'exited',
  exitCode: 0,
  signal: null,
  problem: null,
  tail: '',
  lines: 3,
  otherLines: 0,
  warnings: [],
  durationMs: 1,
}

export function demoReplay(recording: Recording, more: Partial<Replay> = {}): Replay {
  const argv = ['node', 'program.mjs', '--start', '4']
  const start = { seed: null, resumeAt: 'next_step', argv, logFile: 'program.log' } as const
  return { ...start, recording, early: [], brokeAt: null, outcome: WELL, attempts: 1, replays: 1, notes: [], ...more }
}

/** What a complete gathering of that window leaves beside its manifest. */
export function demoSidecar({ test }: PlannedTest, more: Partial<Sidecar> = {}): Sidecar {
  const facts = { complete: true, bytes: 1, sha256: '0'.repeat(64), warnings: [], samples: [] }
  return {
    test: test.name,
    complete: true,
    configDigest: test.digest,
    gatheredAt: '2027-03-01T10:00:00.000Z',
    environment: {},
    git: null,
    argv: ['node', 'program.mjs'],
    checkpoints: { 3: facts },
    earlier: [],
    renewals: [],
    resumeAt: null,
    ...more,
  }
}
