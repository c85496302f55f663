import { expect, test } from 'vitest'
import { StatusLine } from './status-line.ts'
import { createStyle } from './style.ts'
import { KeptStream } from './testing/sample-run.ts'

function told(isTTY: boolean, env: Record<string, string> = {}): readonly string[] {
  const stream = new KeptStream(20, isTTY)
  const line = new StatusLine(stream, createStyle(stream, { env, color: false }), env)
  line.step('installing \u001b[2Jtorch …')
  line.detail('installing: collecting numpy')
  line.step('trying torch …')
  line.clear()
  return stream.writes
}

test('a terminal shows one line that is replaced and then gone', () => {
  const erase = '\u001b[1A\r\u001b[0J'
  expect(told(true)).toEqual([
    'installing \\x1b[2J…\n',
    `${erase}installing: collec…\n`,
    `${erase}trying torch …\n`,
    erase,
  ])
})

test.each([
  ['a file', false, {}],
  ['a terminal that draws nothing anew', true, { TERM: 'dumb' }],
  ['the terminal of a CI job', true, { CI: 'true' }],
])('%s gets a line for each step, without details', (_, isTTY, env) => {
  expect(told(isTTY, env)).toEqual(['installing \\x1b[2Jtorch …\n', 'trying torch …\n'])
})
