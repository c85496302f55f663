import type { ConvergenceTest, GitState } from '../../files/convergence/contract.ts'
import type { Storage } from './storage.ts'

/** A test with everything that its file does not say. */
export interface PlannedTest {
  readonly test: ConvergenceTest
  /** The folder that its program runs in. */
  readonly cwd: string
  readonly storage: Storage
  /** What the program prints, as it comes. */
  readonly hear?: (test: string, line: string) => void
}

export interface ConvergenceOptions {
  readonly tests: readonly PlannedTest[]
  /** Seeds to replay with; empty: once, without one. */
  readonly seeds: readonly number[]
  /** Programs that run at once: they have the devices to themselves, unless somebody says otherwise. */
  readonly jobs: number
  readonly environment: Readonly<Record<string, string>>
  /** Of the repository that a folder is in; tests of one file may have several. */
  readonly git: (folder: string) => Promise<GitState | null>
  readonly reproduce: (id: string) => string
}
