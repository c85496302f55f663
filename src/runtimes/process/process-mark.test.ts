import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test, vi } from 'vitest'
import { until } from '../../../test/support/events.ts'
import { describeWith, testWith } from '../../../test/support/needs.ts'
import { survivorsOf } from '../../../test/support/survivors.ts'
import { startProcess } from '../host/worker-process.ts'
import { endMarked, markVariables, newMark } from './process-mark.ts'

const isLinux = process.platform === 'linux'
const children: ChildProcess[] = []

afterEach(() => {
  vi.unstubAllEnvs()
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** In a session of its own. */
async function start(env: Readonly<Record<string, string>>, user: { uid?: number } = {}): Promise<ChildProcess> {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore', cwd: '/', env, ...user })
  children.push(child)
  await once(child, 'spawn')
  return child
}

describeWith('linux', isLinux, 'processes with a mark', () => {
  test('are ended, in whatever session they are, and no others', async () => {
    const mark = newMark()
    const [marked, other, none] = await Promise.all([
      start(markVariables(mark)),
      start(markVariables(newMark())),
      start({ ELSE: mark }),
    ])
    const ended = once(marked, 'exit')
    endMarked([mark])
    expect((await ended)[1]).toBe('SIGKILL')
    expect([other, none].map((child) => child.kill(0))).toEqual([true, true])
    expect([other, none].map(({ signalCode }) => signalCode)).toEqual([null, null])
  })

  test('of an inner Assay keep those of the outer one', async () => {
    const outer = newMark()
    vi.stubEnv('_ASSAY_GROUP', outer)
    const inner = await start(markVariables(newMark()))
    const ended = once(inner, 'exit')
    endMarked([outer])
    expect((await ended)[1]).toBe('SIGKILL')
  })

  test('are what a worker leaves behind in a session of its own', async () => {
    const text = `left-${newMark()}`
    const argv = ['sh', '-c', 'setsid sleep 600 </dev/null >/dev/null 2>&1 & exit 0']
    const worker = startProcess({ argv, channel: 'stdout', inherits: [], env: { LEFT: text } })
    expect((await worker.exited).exitCode).toBe(0)
    await until(() => survivorsOf(text).length === 0, 'what it left has ended')
  })
})

testWith('root', isLinux && process.getuid?.() === 0, 'a process of another user is not ours to end', async () => {
  const mark = newMark()
  const [theirs, ours] = await Promise.all([start(markVariables(mark), { uid: 65534 }), start(markVariables(mark))])
  const ended = once(ours, 'exit')
  endMarked([mark])
  await ended
  expect([theirs.kill(0), theirs.signalCode]).toEqual([true, null])
})
