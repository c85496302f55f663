import { defineConfig } from 'vitest/config'

/** Where processes that tests start write down what they reached, while coverage is counted. */
const { ASSAY_TEST_CHILD_COVERAGE: children } = process.env

const SLOW = 'test/**/*.slow.test.ts'

export default defineConfig({
  test: {
    pool: 'forks',
    env: children ? { NODE_V8_COVERAGE: children } : {},
    // vitest leaves one core free; these tests mostly wait for processes of their own.
    maxWorkers: '100%',
    reporters: ['default', './test/skipped-reporter.ts'],
    globalSetup: 'test/temporary-folder.ts',
    // Far from what a healthy test takes, also on a machine that does other things.
    testTimeout: 300_000,
    hookTimeout: 600_000,
    teardownTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts', 'web/**/*.test.ts'] } },
      { extends: true, test: { name: 'e2e', include: ['test/**/*.test.ts'], exclude: [SLOW] } },
      { extends: true, test: { name: 'slow', include: [SLOW] } },
    ],
  },
})
