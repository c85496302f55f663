import { resolve } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import type { ConvergenceTest, GitState, ResumeAt } from './config/contract.ts'
import type { Storage } from './storage/storage.ts'

/** A test with everything that its file does not say. */
export interface PlannedTest {
  readonly test: ConvergenceTest
  /** The folder that its program runs in. */
  readonly cwd: string
  /** What its program inherits. */
  readonly environment: Environment
  readonly storage: Storage
  /** Tells a notice that is the same for many windows, once. */
  readonly tell?: (text: string) => void
  /** What the program prints, as it comes. */
  readonly onOutput?: (test: string, line: string) => void
}

export interface ConvergenceOptions {
  readonly tests: readonly PlannedTest[]
  /** Seeds to replay with; empty: once, without one. */
  readonly seeds: readonly number[]
  /** Runs one program at a time, so that it has the devices to itself, unless --jobs says otherwise. */
  readonly isAlone: boolean
  readonly environment: Readonly<Record<string, string>>
  /** Git state of the repository that a folder is in; tests of one file may be in several. */
  readonly git: (folder: string) => Promise<GitState | null>
}

/** The step that replays are told to resume at: configured, learnt, or as documented. */
export async function findStart({ test, storage }: PlannedTest): Promise<ResumeAt> {
  return test.resumeAt ?? (await storage.learntStart()) ?? 'last_step'
}

/** The file or folder that the program writes its metrics to; null: it prints them. */
export function findSourcePath({ test, cwd, storage }: PlannedTest): string | null {
  const { source } = test.parsing
  return 'path' in source ? resolve(cwd, source.path.replaceAll('{checkpoints}', storage.checkpoints)) : null
}
