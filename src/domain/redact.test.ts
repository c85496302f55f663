import { expect, test } from 'vitest'
import { redact, redactArguments, redactText, secretsHider } from './redact.ts'

test.each([
  ['command:./runner,arg=--token=hunter2,arg=--fast', 'command:./runner,arg=--token=***,arg=--fast'],
  ['command:./runner,arg=--api-key,arg=hunter2', 'command:./runner,arg=--api-key,arg=***'],
  ['https://me:hunter2@example.com/x', 'https://me:***@example.com/x'],
  ['ort:cpu,threads=2', 'ort:cpu,threads=2'],
  ['models/tokenizer.onnx', 'models/tokenizer.onnx'],
  ['passWithNoTests=true', 'passWithNoTests=true'],
  ['command:./tokenizer,arg=--fast', 'command:./tokenizer,arg=--fast'],
  ['command:./runner,arg=--tokenizer=a.json', 'command:./runner,arg=--tokenizer=a.json'],
  ['command:./runner,arg=--max-new-tokens,arg=8', 'command:./runner,arg=--max-new-tokens,arg=8'],
])('%s becomes %s', (text, shown) => {
  expect(redact(text)).toBe(shown)
})

test('whatever a secret key or an environment holds is hidden at any depth', () => {
  const options = { arg: '--fast', password: 'hunter2', env: { HOME: '/root' } }
  expect(redact({ targets: { board: { options } }, seed: 3 })).toEqual({
    targets: { board: { options: { arg: '--fast', password: '***', env: '***' } } },
    seed: 3,
  })
})

test('arguments of a program hide the values of secrets, whichever way they are given', () => {
  const argv = ['./runner', '--token=hunter2', '--api-key', 'hunter3', '--password', '--fast', '--tokens', '8']
  const shown = ['./runner', '--token=***', '--api-key', '***', '--password', '--fast', '--tokens', '8']
  expect(redactArguments(argv)).toEqual(shown)
  expect(secretsHider(argv)('unknown: hunter2, hunter3, 8')).toBe('unknown: ***, ***, 8')
})

test('takes time in proportion to the text', () => {
  for (const word of ['a', 'token', 'arg=-token,', '-']) {
    const text = word.repeat(100_000)
    expect(redactText(`${text} password=x`)).toContain('password=***')
    expect(redactArguments([text, 'x'])).toHaveLength(2)
  }
})
