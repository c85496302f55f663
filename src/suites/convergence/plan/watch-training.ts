import { resolve } from 'node:path'
import type { WatchedFiles } from '../../contract.ts'
import { type ConvergeAsked, plannedTests } from './converge-asked.ts'

/** What replays depend on: the tests, their manifests, and the files that their programs are started with. */
export function watchTraining(asked: ConvergeAsked): () => Promise<WatchedFiles> {
  const configs = asked.sources.map(({ testConfigPath }) => resolve(asked.base, testConfigPath))
  return async () => {
    const tests = await plannedTests(asked, { notice: () => {} }).catch(() => [])
    const manifests = tests.map(({ storage }) => storage.manifestPath)
    const programs = tests.flatMap(({ test, cwd }) => test.executable.map((word) => resolve(cwd, word)))
    return { models: new Map(), others: [...configs, ...manifests, ...programs] }
  }
}
