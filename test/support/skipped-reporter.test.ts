import { expect, test } from 'vitest'
import { needTag } from './needs.ts'
import { skippedLines } from './skipped-reporter.ts'

test('what was skipped is one line for every kind, with how to get it', () => {
  const titles = [
    `a board ${needTag('sshd')} > is freed`,
    `a board ${needTag('sshd')} > is listed`,
    `a page > opens ${needTag('browser')}`,
    'openvino:cpu conforms > int64: skipped, it keeps 32 bits',
  ]
  expect(skippedLines(titles)).toMatchInlineSnapshot(`
    [
      "skipped 1 test for lack of Chromium or Chrome; to run: apt-get install chromium",
      "skipped 2 tests for lack of sshd and ssh; to run: apt-get install openssh-server openssh-client",
      "skipped 1 test where a runtime or a machine cannot do it; each title says why",
    ]
  `)
})

test('nothing skipped is nothing said', () => {
  expect(skippedLines([])).toEqual([])
})
