import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    pool: 'forks',
    // vitest leaves one core free; these tests mostly wait for processes of their own.
    maxWorkers: '100%',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts'],
    globalSetup: 'test/temporary-folder.ts',
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
