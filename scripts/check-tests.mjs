// Refuses tests that a busy machine fails: those that measure how long something took, or wait only for so long.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const REFUSED = [
  [/expect\(.*\b(?:performance|Date)\.now\(\) - [a-z(]/i, 'it expects a time; expect an order of events, or a count'],
  [/expect\(.*durationMs\)\.toBeLess/, 'it expects a time; expect an order of events, or a count'],
  [
    /for \(let (\w+) = 0; \1 < \d+ &&.*(?:delay|sleep|setTimeout)\(/,
    'it waits for so long; use until() of test/support/events.ts',
  ],
  [/\bvi\.wait(?:For|Until)\(/, 'it waits for a second; use until() of test/support/events.ts'],
]

function tests(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
}

function problemsOf(path) {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line, i) => {
      const found = REFUSED.find(([pattern]) => pattern.test(line))
      return found ? [`${relative(root, path)}:${i + 1}: ${found[1]}`] : []
    })
}

const problems = ['src', 'web', 'test'].flatMap((folder) => tests(join(root, folder))).flatMap(problemsOf)
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exit(problems.length > 0 ? 1 : 0)
