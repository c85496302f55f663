import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { childExit, describeEnd } from './child-exit.ts'

test('a child that holds the pipes open keeps nobody waiting, and what was printed before is there', async () => {
  const child = spawn('sh', ['-c', 'sleep 300 & echo $!; exit 3'], { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  child.stdout.on('data', (part: Buffer) => {
    printed += part
  })
  expect(await childExit(child)).toEqual({ exitCode: 3, signal: null, problem: null })
  const sleeper = Number(printed)
  expect(process.kill(sleeper, 0)).toBe(true)
  process.kill(sleeper, 'SIGKILL')
})

test('a program that cannot be started has a problem', async () => {
  const { problem } = await childExit(spawn('/nowhere/program'))
  expect(problem?.message).toContain('ENOENT')
})

test('a child that is told to end has ended', async () => {
  const stop = new AbortController()
  const child = spawn('sh', ['-c', 'trap "exit 7" TERM; echo ready; while :; do sleep 0.01; done'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal: stop.signal,
  })
  child.stdout.once('data', () => stop.abort())
  expect(await childExit(child)).toEqual({ exitCode: 7, signal: null, problem: null })
})

test('what is to be done between its end and the end of its pipes is done', async () => {
  const done: string[] = []
  await childExit(spawn(process.execPath, ['-e', '']), () => done.push('exited'))
  expect(done).toEqual(['exited'])
})

test('how a child ended is told with its signal, or else its exit code', () => {
  expect(describeEnd({ exitCode: null, signal: 'SIGSEGV' })).toBe('was killed by SIGSEGV')
  expect(describeEnd({ exitCode: 3, signal: null })).toBe('ended with exit code 3')
})
