import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../../../../test/support/events.ts'
import { testWith } from '../../../../test/support/needs.ts'
import { TestClock } from '../../../domain/testing/test-clock.ts'
import type { ProgramRequest } from './contract.ts'
import { folder, LOSS_PARSING as PARSING, pattern, type Ran, run, steps } from './testing/run.ts'

const limits = (changes: Partial<ProgramRequest['limits']>) => ({
  limits: { idleMs: 20_000, totalMs: null, patternMs: 20_000, ...changes },
})

test('what a program logs becomes events in their order', async () => {
  const ran = await run(
    `console.log('hello'); console.log('step 0001 loss 0.5'); console.log('saved a/b.bin'); console.log('step 2')`,
  )
  expect(ran.events).toEqual([
    { kind: 'step', step: 1, metrics: { loss: { 0: '0.5' } } },
    { kind: 'save', checkpoint: 'a/b.bin' },
    { kind: 'step', step: 2, metrics: {} },
  ])
  expect(ran).toMatchObject({ ending: 'exited', exitCode: 0, signal: null, problem: null, lines: 4, warnings: [] })
  expect(ran.log).toBe('hello\nstep 0001 loss 0.5\nsaved a/b.bin\nstep 2\n')
})

test('a program that crashes at once shows its exit code and what it said', async () => {
  const ran = await run(`console.error('no such device'); process.exit(3)`)
  expect(ran).toMatchObject({ ending: 'exited', exitCode: 3, signal: null, problem: null, lines: 0, events: [] })
  expect(ran.tail).toBe('no such device\n')
})

test('a program that is killed shows by what', async () => {
  const ran = await run(`process.kill(process.pid, 'SIGSEGV'); setInterval(() => {}, 1000)`)
  expect(ran).toMatchObject({ ending: 'exited', exitCode: null, signal: 'SIGSEGV' })
})

test('a program that prints nothing ends with nothing', async () => {
  const ran = await run('')
  expect(ran).toMatchObject({ ending: 'exited', exitCode: 0, tail: '', log: '', lines: 0, events: [] })
})

test('the stream that is read is the one that was asked for', async () => {
  const program = `process.stdout.write('step 1\\n'); process.stderr.write('step 2\\n')`
  expect(steps(await run(program, { stream: 'stderr' }))).toEqual([2])
  expect(steps(await run(program, { stream: 'both' })).sort()).toEqual([1, 2])
})

test('a last line without an end, progress bars and bytes that are no text are all read', async () => {
  const ran = await run(
    `process.stdout.write(Buffer.concat([Buffer.from('step 1 loss 1\\rstep 2 loss '), Buffer.of(0xff, 13, 10), Buffer.from('step 3')]))`,
  )
  expect(steps(ran)).toEqual([1, 2, 3])
  expect(ran.events[1]).toEqual({ kind: 'step', step: 2, metrics: { loss: { 0: '\ufffd' } } })
  expect(ran.lines).toBe(3)
})

test('of 2,000 lines printed right before the exit none is lost, 20 times', async () => {
  const program = `let all = ''; for (let i = 0; i < 2000; i++) all += 'step ' + i + ' loss 0.' + i + '\\n'
    import('node:fs').then(({ writeSync }) => { writeSync(1, all); process.exit(0) })`
  for (let round = 0; round < 20; round++) {
    expect(steps(await run(program))).toEqual(Array.from({ length: 2000 }, (_, i) => i))
  }
})

test('arguments are passed as they stand and no shell of ours is started', async () => {
  const ran = await run(['sh', '-c', 'echo "$0" "$1"; echo $PPID', 'a b', '$(x)'])
  expect(ran.tail).toBe(`a b $(x)\n${process.pid}\n`)
  const star = await run([process.execPath, '-p', 'process.argv.slice(1).join()', '*', '; echo hi', '$HOME'])
  expect(star.tail).toBe('*,; echo hi,$HOME\n')
})

test('the environment is ours, with unbuffered Python and what was asked for', async () => {
  const program = `console.log(process.env.PYTHONUNBUFFERED, process.env.PROGRAM_TEST, process.env.PATH === ${JSON.stringify(process.env.PATH)})`
  expect((await run(program)).tail).toBe('1 undefined true\n')
  const ran = await run(program, { environment: { PROGRAM_TEST: 'x', PYTHONUNBUFFERED: '0' } })
  expect(ran.tail).toBe('0 x true\n')
})

test.each([
  [['no-such-program-at-all'], /^cannot start no-such-program-at-all: no program of this name in PATH$/],
  [['./trian.py'], /^cannot start \.\/trian\.py: there is no file .*trian\.py; did you mean train\.py\?$/],
  [
    ['./train.py'],
    /train\.py is not executable; run chmod \+x, or start it with its interpreter, as in python3 train\.py$/,
  ],
  [['./lost.sh'], /^cannot start \.\/lost\.sh: .*lost\.sh exists, but the interpreter/],
  [[process.execPath, 'a\0b'], /^cannot start .*null bytes/],
  [[], /^there is no program to start/],
])('%j is not started, and a sentence says why', async (argv, problem) => {
  writeFileSync(join(folder, 'train.py'), '', { mode: 0o644 })
  writeFileSync(join(folder, 'lost.sh'), '#!/no/such/shell\n', { mode: 0o755 })
  const ran = await run(argv)
  expect(ran).toMatchObject({ ending: 'not-started', exitCode: null, signal: null, lines: 0, tail: '' })
  expect(ran.problem).toMatch(problem)
})

test('a folder that is not there is said', async () => {
  const ran = await run(['ls'], { cwd: join(folder, 'nowhere') })
  expect(ran.ending).toBe('not-started')
  expect(ran.problem).toMatch(/^the working folder .*nowhere does not exist/)
})

test('a program that hangs is ended after the idle limit, and what it logged counts', async () => {
  const clock = new TestClock()
  const onOutput = () => clock.advance(601)
  const ran = await run(`console.log('step 1'); setInterval(() => {}, 1000)`, {
    clock,
    onOutput,
    ...limits({ idleMs: 600 }),
  })
  expect(ran).toMatchObject({ ending: 'idle', exitCode: null, signal: 'SIGTERM' })
  expect(ran.problem).toBe('it printed nothing for 600ms, the idle time limit, and was ended')
  expect(steps(ran)).toEqual([1])
})

test('a program that trickles for ever is ended after the total limit', async () => {
  const program = `let i = 0; setInterval(() => console.log('step', i++), 20)`
  const clock = new TestClock()
  const onOutput = () => clock.advance(300)
  const ran = await run(program, { clock, onOutput, ...limits({ totalMs: 1200 }) })
  expect(ran.ending).toBe('timeout')
  expect(ran.problem).toBe('it was still running after 1.20s, the total time limit, and was ended')
  expect(steps(ran).length).toBeGreaterThan(3)
})

test('words on the stream that is not read are signs of life too', async () => {
  const program = `import { existsSync } from 'node:fs'
    for (let i = 0; i < 4; i++) {
      console.error(i)
      while (!existsSync('busy-' + i)) await new Promise((resolve) => setTimeout(resolve, 5))
    }`
  const clock = new TestClock()
  const onOutput = (line: string) => {
    clock.advance(500)
    writeFileSync(join(folder, `busy-${line}`), '')
  }
  expect((await run(program, { clock, onOutput, ...limits({ idleMs: 700 }) })).ending).toBe('exited')
  expect(clock.now()).toBe(2000)
})

test('a program that ignores SIGTERM is killed', async () => {
  const program = `process.on('SIGTERM', () => console.log('never')); console.log('step 1'); setInterval(() => {}, 1000)`
  const clock = new TestClock()
  const onOutput = () => clock.advance(2001)
  const ran = await run(program, { clock, onOutput, ...limits({ idleMs: 2000 }) })
  expect(ran).toMatchObject({ ending: 'idle', signal: 'SIGKILL', tail: 'step 1\nnever\n' })
})

test('a program that is ended may still write down what it has', async () => {
  const program = `process.on('SIGTERM', () => setTimeout(() => { console.log('flushed'); process.exit(5) }, 50))
    console.log('step 1'); setInterval(() => {}, 1000)`
  const ran = await run(program, { clock: new TestClock(), onEvents: () => false })
  expect(ran).toMatchObject({ ending: 'enough', exitCode: 5, problem: null })
  expect(ran.log).toBe('step 1\nflushed\n')
})

const holder = (how: 'in the group' | 'detached' | 'unmarked', text = '') => `
  import { spawn } from 'node:child_process'
  const child = spawn(process.execPath, ['-e', ${JSON.stringify(`${text}; setInterval(() => {}, 1000)`)}], { stdio: 'inherit', detached: ${how !== 'in the group'}${how === 'unmarked' ? ', env: {}' : ''} })
  console.log('child ' + child.pid)
  console.log('step 1')
  process.exit(0)`

/** Runs it, and lets so much time pass after its end. */
async function leaveBehind(program: string, ms: number): Promise<Ran> {
  const clock = new TestClock()
  // The first limit is that of the program itself.
  const hasEnded = clock.started(2)
  const onOutput = (line: string) => line === 'step 1' && hasEnded.then(() => clock.advance(ms))
  return run(program, { clock, onOutput })
}

const pidIn = (ran: Ran) => Number(/child (\d+)/.exec(ran.log)![1])

test('a child that a program leaves behind keeps nobody waiting and is killed', async () => {
  const ran = await leaveBehind(holder('in the group'), 500)
  expect(ran).toMatchObject({ ending: 'exited', exitCode: 0, warnings: [] })
  expect(steps(ran)).toEqual([1])
  await until(() => living(['-p', String(pidIn(ran))]).length === 0, 'the child has ended')
})

testWith('linux', process.platform === 'linux', 'a child that left the group is found and killed too', async () => {
  const ran = await leaveBehind(holder('detached'), 500)
  expect(ran).toMatchObject({ ending: 'exited', exitCode: 0, warnings: [] })
  await until(() => living(['-p', String(pidIn(ran))]).length === 0, 'the child has ended')
})

test('a child that left the group and its environment, and holds the streams, is let go of, with a warning', async () => {
  const ran = await leaveBehind(holder('unmarked'), 1000)
  process.kill(pidIn(ran), 'SIGKILL')
  expect(ran).toMatchObject({ ending: 'exited', exitCode: 0 })
  expect(ran.warnings).toEqual([
    'a process that the program left behind kept its streams open; they were read until it was quiet',
  ])
})

test('what a child of a shell passes on after the shell has ended is read', async () => {
  const argv = ['sh', '-c', '(sleep 0.1; echo step 7) & echo step 1']
  const ran = await run(argv, { clock: new TestClock() })
  expect(steps(ran)).toEqual([1, 7])
})

test('an abort ends the program and no events come any more', async () => {
  const control = new AbortController()
  const seen: number[] = []
  const program = `let i = 0; setInterval(() => console.log('step', i++), 5)`
  const ran = await run(program, {
    signal: control.signal,
    onEvents(events) {
      seen.push(events.length)
      if (seen.length === 3) control.abort()
      return true
    },
  })
  expect(ran).toMatchObject({ ending: 'aborted', problem: 'it was ended because the run was interrupted' })
  expect(seen.length).toBe(3)
  const late = await run(program, { signal: AbortSignal.abort() })
  expect(late).toMatchObject({ ending: 'aborted', events: [] })
})

test('when the reader has enough the program is ended and it is not asked again', async () => {
  let asked = 0
  const ran = await run(`let i = 0; setInterval(() => console.log('step', i++), 5)`, { onEvents: () => ++asked < 2 })
  expect(ran).toMatchObject({ ending: 'enough', signal: 'SIGTERM', problem: null })
  expect(asked).toBe(2)
})

test('a reader that fails ends the program, and its failure is passed on', async () => {
  const broken = run(`setInterval(() => console.log('step 1'), 5)`, {
    onEvents() {
      throw new RangeError('no room')
    },
  })
  await expect(broken).rejects.toThrow('no room')
})

test('a pattern that would never end is broken off and named, with the line', async () => {
  const parsing = { ...PARSING, metrics: { ...PARSING.metrics, odd: pattern('^step \\d+ (a+)+$') } }
  const program = `import { existsSync } from 'node:fs'
    console.log('step 1 aaa')
    while (!existsSync('first-seen')) await new Promise((resolve) => setTimeout(resolve, 5))
    console.log('step 2 ' + 'a'.repeat(60) + 'b')
    setInterval(() => {}, 1000)`
  const seen: number[] = []
  const onEvents: ProgramRequest['onEvents'] = (events) => {
    for (const event of events) if (event.kind === 'step') seen.push(event.step)
    writeFileSync(join(folder, 'first-seen'), '')
    return true
  }
  const ran = await run(program, { parsing, onEvents, ...limits({ patternMs: 1000 }) })
  expect(ran.ending).toBe('pattern')
  expect(ran.problem).toMatch(
    /^the pattern of odd, \/\^step \\d\+ \(a\+\)\+\$\/, took longer than 1000 ms at line 2, which begins "step 2 aaa/,
  )
  expect(seen).toEqual([1])
})

test('a program that seems idle while a pattern never ends is not blamed for it', async () => {
  const parsing = { ...PARSING, stepNum: pattern('^(a+)+$') }
  const program = `console.log('a'.repeat(60) + 'b'); setInterval(() => {}, 1000)`
  const clock = new TestClock()
  const onOutput = () => clock.advance(501)
  const ran = await run(program, { clock, onOutput, parsing, ...limits({ idleMs: 500, patternMs: 300 }) })
  expect(ran.ending).toBe('pattern')
  expect(ran.problem).toMatch(/^the pattern of step_num, /)
})

test('every line is heard, of both streams', async () => {
  const heard: string[] = []
  await run(`console.log('a\\nb'); console.error('c')`, { onOutput: (line) => heard.push(line) })
  expect(heard.sort()).toEqual(['a', 'b', 'c'])
})

test('a program does not outlive us, nor what it started in a session of its own', async () => {
  const seconds = `600.${process.pid}`
  const host = `
    import { runProgram } from ${JSON.stringify(new URL('../../../../dist.modules/suites/convergence/program/run-program.js', import.meta.url))}
    const nothing = { kind: 'fields', fields: {} }
    runProgram({
      argv: ['sh', '-c', 'setsid sleep ${seconds} & echo here; exec sleep ${seconds}'], cwd: '.', environment: process.env, stream: 'both', sourcePath: null, logFile: 'host.log',
      parsing: { source: { kind: 'lines' }, stepNum: nothing, modelSave: nothing, metrics: {} },
      limits: { idleMs: 60000, totalMs: null, patternMs: 1000 }, signal: new AbortController().signal, onEvents: () => true,
      onOutput: () => process.exit(0),
    })`
  const ran = await run(host)
  expect(ran).toMatchObject({ ending: 'exited', exitCode: 0, warnings: [] })
  await until(() => !living(['-e']).some((line) => line.endsWith(`sleep ${seconds}`)), 'the program has ended')
})

/** Processes by what `ps` takes; a zombie has ended. */
function living(which: readonly string[]): string[] {
  const { stdout } = spawnSync('ps', [...which, '-o', 'stat=,args='], { encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line !== '' && !line.startsWith('Z'))
}
