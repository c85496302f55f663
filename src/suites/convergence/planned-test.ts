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
  /** What is the same for many windows and told once. */
  readonly tell?: (text: string) => void
  /** What the program prints, as it comes. */
  readonly onOutput?: (test: string, line: string) => void
}

export interface ConvergenceOptions {
  readonly tests: readonly PlannedTest[]
  /** Seeds to replay with; empty: once, without one. */
  readonly seeds: readonly number[]
  /** One program at a time: it has the devices to itself, unless somebody says otherwise. */
  readonly isAlone: boolean
  readonly environment: Readonly<Record<string, string>>
  /** Of the repository that a folder is in; tests of one file may have several. */
  readonly git: (folder: string) => Promise<GitState | null>
}

/** What replays are told to begin with, as far as it is known before them: said, learnt, or as documented. */
export async function startOf({ test, storage }: PlannedTest): Promise<ResumeAt> {
  return test.resumeAt ?? (await storage.learntStart()) ?? 'last_step'
}

/** The file or folder that the program writes its metrics to; null: it prints them. */
export function sourcePathOf({ test, cwd, storage }: PlannedTest): string | null {
  const { source } = test.parsing
  return 'path' in source ? resolve(cwd, source.path.replaceAll('{checkpoints}', storage.checkpoints)) : null
}
