import { expect, test } from 'vitest'
import { redact } from './redact.ts'

test.each([
  ['command:./runner,arg=--token=hunter2,arg=--fast', 'command:./runner,arg=--token=***,arg=--fast'],
  ['command:./runner,arg=--api-key,arg=hunter2', 'command:./runner,arg=--api-key,arg=***'],
  ['https://me:hunter2@example.com/x', 'https://me:***@example.com/x'],
  ['ort:cpu,threads=2', 'ort:cpu,threads=2'],
  ['models/tokenizer.onnx', 'models/tokenizer.onnx'],
  ['passWithNoTests=true', 'passWithNoTests=true'],
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
