import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { Tail } from './tail.ts'
import { waitForTool } from './tool-end.ts'

async function endOf(script: string) {
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'ignore', 'pipe'] })
  const tail = new Tail()
  tail.drain(child.stderr)
  return waitForTool(child, tail)
}

test.each([
  ['exit 0', { succeeded: true, complaint: 'exit code 0' }],
  ['echo no network >&2; exit 2', { succeeded: false, complaint: 'no network' }],
  ['exit 2', { succeeded: false, complaint: 'exit code 2' }],
  ['kill -9 $$', { succeeded: false, complaint: 'ended by SIGKILL' }],
])('%s', async (script, end) => {
  expect(await endOf(script)).toEqual(end)
})

test('a tool that cannot be started says why', async () => {
  const end = await waitForTool(spawn('/nowhere/program'), new Tail())
  expect(end).toEqual({ succeeded: false, complaint: 'spawn /nowhere/program ENOENT' })
})
