import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Where processes that tests start write down what they reached, while coverage is counted. */
const { ASSAY_TEST_CHILD_COVERAGE: children } = process.env

const SLOW = 'test/**/*.slow.test.ts'
/** Importing the program anew for every file would take as long as many of them. */
const SHARED = { isolate: false, setupFiles: 'test/support/file-setup.ts' }

export default defineConfig({
  test: {
    pool: 'forks',
    env: children ? { NODE_V8_COVERAGE: children } : {},
    // vitest leaves one core free; these tests often wait for processes of their own.
    maxWorkers: availableParallelism() + 1,
    reporters: ['default', './test/support/skipped-reporter.ts'],
    globalSetup: 'test/support/temporary-folder.ts',
    // Far from what a healthy test takes, also on a machine that does other things.
    testTimeout: 300_000,
    hookTimeout: 600_000,
    teardownTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'unit', isolate: false, include: ['src/**/*.test.ts', 'web/**/*.test.ts'] } },
      { extends: true, test: { name: 'e2e', ...SHARED, include: ['test/**/*.test.ts'], exclude: [SLOW] } },
      { extends: true, test: { name: 'slow', ...SHARED, include: [SLOW] } },
    ],
  },
})
