import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { buildModel } from '../../src/onnx/builder.ts'
import { assay, assayJson, ended, project, startAssay, temporaryFolder } from '../support/assay.ts'
import { said, until } from '../support/events.ts'
import { type Board, describeWithBoard, runnerOf } from '../support/sshd.ts'
import { survivorsOf } from '../support/survivors.ts'

const identity = buildModel({
  inputs: [{ name: 'x', dtype: 'float32', shape: [4] }],
  outputs: [{ name: 'y', dtype: 'float32', shape: [4] }],
  nodes: [{ op: 'Identity', inputs: ['x'], outputs: ['y'] }],
})

let runs = 0
const marks: string[] = []

/** What a failed test left would keep the next one waiting. */
afterEach(() => {
  for (const mark of marks.splice(0)) signal(pidsOf(mark, ''), 'SIGKILL')
})

/** Starts a run and resolves when its runner is at work on the board. */
async function startOn(board: Board, words: readonly string[], options = '', args: readonly string[] = []) {
  const folder = project({ 'm.onnx': identity, 'n.onnx': identity })
  const mark = `board run ${process.pid} ${++runs}`
  const report = join(folder, 'report.jsonl')
  writeFileSync(report, '')
  const target = `board=${board.spec},${runnerOf(...words)},env=REPORT=${report}${options}`
  const child = startAssay(['test', 'm.onnx', '--target', target, ...args], folder, { LC_MARK: mark })
  const end = ended(child)
  marks.push(mark)
  await until(() => readFileSync(report, 'utf8').includes('"sha256"'), 'the runner has its model')
  return { child, end, folder, mark, report }
}

/** Of the processes of a run on this machine. */
function pidsOf(mark: string, words: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => textOf(`/proc/${pid}/environ`).includes(mark))
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).includes(words))
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It has ended meanwhile.
    return ''
  }
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** As if nothing had been heard for an hour of the run that has the board. */
function silence(board: Board): void {
  const token = readFileSync(join(board.leaseFolder, 'token'), 'utf8').trim()
  const sessions = board.sessions().map((name) => join(board.cache, 'sessions', name, 'beat'))
  for (const beat of [join(board.leaseFolder, `beat.${token}`), ...sessions])
    writeFileSync(beat, `${Number(readFileSync(beat, 'utf8')) - 3600}\n`)
}

const BRIDGE = 'ssh/worker.js'

await describeWithBoard('the lease of a board', (board) => {
  test('two runs at once: one waits, says for whom, and goes on when it is free', async () => {
    const gate = join(temporaryFolder('gate'), 'open')
    const first = await startOn(board, ['gated', gate])
    const folder = project({ 'm.onnx': identity })
    const child = startAssay(['test', 'm.onnx', '--target', `b=${board.spec},${runnerOf()}`], folder)
    const waits = said(child.stderr, '; waiting')
    const end = ended(child)
    await waits
    writeFileSync(gate, '')
    const second = await end
    expect(second.stderr).toMatch(
      /^b: \S+@127\.0\.0\.1,port=\d+ is held by \S+@\S+ \(process \d+\)( for \d+ s)?(, last sign of life \d+ s ago)?; waiting\n$/,
    )
    expect([second.code, (await first.end).code]).toEqual([0, 0])
    await until(() => board.isLeftClean(), 'the board is as it was')
  })

  test('who does not want to wait is told who has it; boards shows it and does not free it', async () => {
    const first = await startOn(board, ['hangs'])
    const folder = project({ 'm.onnx': identity })
    const impatient = await assay(['test', 'm.onnx', '--target', `b=${board.spec},${runnerOf()},wait=1`], folder)
    expect(impatient.code).toBe(1)
    expect(impatient.stdout.replace(/\s+/g, ' ')).toMatch(
      /b is not available: \S+ is held by \S+@\S+ \(process \d+\) for .* waited 1 s for it \(wait=\); to take it anyway: "assay boards free \S+ --force"/,
    )
    const listed = await assay(['boards', board.spec], folder)
    expect(listed.stdout).toMatch(/held by \S+@\S+ \(process \d+\) for /)
    const json = JSON.parse((await assay(['boards', '--json', board.spec], folder)).stdout)
    expect(json.boards[0].outcome.holder).toMatchObject({ isOver: false, who: expect.stringContaining('@') })
    const cleaned = await assay(['boards', 'clean', board.spec], folder)
    expect([cleaned.code, cleaned.stdout]).toEqual([1, expect.stringContaining('left alone: it is held')])
    first.child.kill('SIGKILL')
    await until(() => board.isLeftClean(), 'the board is as it was')
  })

  test('a lease of somebody else is only freed by force, which ends what runs there', async () => {
    const first = await startOn(board, ['leaves-a-child'], ',ttl=8', ['n.onnx', '--json'])
    await until(() => board.processes().some((argv) => argv[0] === 'sleep' && argv[1] === '300'), 'the child')
    writeFileSync(join(board.leaseFolder, 'who'), 'anna@\u001b[31mlaptop (process 1)\n')
    const refused = await assay(['boards', 'free', board.spec], first.folder)
    expect(refused.code).toBe(1)
    expect(refused.stdout.replace(/\s+/g, ' ')).toContain('left alone: it is held by anna@\\x1b[31mlaptop (process 1)')
    expect(refused.stdout.replace(/\s+/g, ' ')).toContain('--force, if nobody needs it any more')
    const forced = await assay(['boards', 'free', board.spec, '--force'], first.folder)
    expect([forced.code, forced.stdout]).toEqual([0, expect.stringContaining('is free; it was held by')])
    const { results } = JSON.parse((await first.end).stdout)
    const messages: string[] = results.map(({ error }: { error: { message: string } }) => error.message)
    expect(messages).toHaveLength(2)
    for (const message of messages) expect(message).toMatch(/was taken away: its lease was freed or had expired$/)
    await until(() => board.isLeftClean(), 'the board is as it was')
  })

  test('kill -9 of the host frees the board', async () => {
    const { child, mark } = await startOn(board, ['leaves-a-child'])
    child.kill('SIGKILL')
    await until(() => board.isLeftClean(), 'the board is as it was')
    await until(() => survivorsOf(mark).length === 0, 'nothing is left here')
  })

  test('kill -9 of the bridge costs one attempt', async () => {
    const gate = join(temporaryFolder('gate'), 'open')
    const { end, mark } = await startOn(board, ['gated', gate], '', ['--json'])
    signal(pidsOf(mark, BRIDGE), 'SIGKILL')
    writeFileSync(gate, '')
    const { results } = JSON.parse((await end).stdout)
    expect(results[0]).toMatchObject({ verdict: 'pass', flags: expect.arrayContaining(['retried']) })
    await until(() => board.isLeftClean(), 'the board is as it was')
  })

  test('kill -9 of host and bridge at once frees the board, and ends ssh', async () => {
    const { child, mark } = await startOn(board, ['leaves-a-child'])
    const bridges = pidsOf(mark, BRIDGE)
    child.kill('SIGKILL')
    signal(bridges, 'SIGKILL')
    await until(() => board.isLeftClean(), 'the board is as it was')
    await until(() => survivorsOf(mark).length === 0, 'nothing is left here')
  })

  test('a run that is never heard of again loses the board after its time to live', async () => {
    const { child, mark, report } = await startOn(board, ['leaves-a-child'], ',ttl=12')
    const frozen = pidsOf(mark, '')
    const runner = Number(JSON.parse(readFileSync(report, 'utf8').split('\n')[0]!).pid)
    signal(frozen, 'SIGSTOP')
    silence(board)
    await until(
      () => !survivorsOf(`BOARD_MARK=${board.lease}`).some((argv) => argv.includes('leaves-a-child')),
      'the runner ends',
    )
    expect(textOf(`/proc/${runner}/cmdline`)).toBe('')
    await until(() => !board.isHeld() && board.sessions().length === 0, 'the board is free')
    const next = await assayJson(
      ['test', 'm.onnx', '--target', `b=${board.spec},${runnerOf()}`],
      project({ 'm.onnx': identity }),
    )
    expect(next.results.map(({ verdict }) => verdict)).toEqual(['pass'])
    signal(frozen, 'SIGCONT')
    child.kill('SIGKILL')
    await until(() => board.isLeftClean(), 'the board is as it was')
  })

  test('a holder that is out of reach is replaced, and its late sign of life changes nothing', async () => {
    const first = await startOn(board, ['hangs'], ',ttl=12')
    // The board's own watch is frozen too, so that only the next run can see that time is over.
    const frozen = [...pidsOf(first.mark, ''), ...pidsOf(`BOARD_MARK=${board.lease}`, '')]
    signal(frozen, 'SIGSTOP')
    silence(board)
    const gate = join(temporaryFolder('gate'), 'open')
    const second = await startOn(board, ['gated', gate])
    const token = readFileSync(join(board.leaseFolder, 'token'), 'utf8')
    signal(frozen, 'SIGCONT')
    expect((await first.end).stdout).toContain('was taken away')
    expect(readFileSync(join(board.leaseFolder, 'token'), 'utf8')).toBe(token)
    writeFileSync(gate, '')
    expect((await second.end).code).toBe(0)
    await until(() => board.isLeftClean(), 'the board is as it was')
  })

  test('Ctrl-C twice ends what runs on the board', async () => {
    const { child, end } = await startOn(board, ['leaves-a-child'])
    const heard = said(child.stderr, 'interrupt again to stop now')
    child.kill('SIGINT')
    await heard
    child.kill('SIGINT')
    expect((await end).code).toBe(2)
    await until(() => board.isLeftClean(), 'the board is as it was')
  })

  test('targets of one run take turns on it, and two spellings of its address are pointed out', async () => {
    const folder = project({ 'a.onnx': identity, 'b.onnx': identity })
    const [one, two] = ['one', 'two'].map((name) => `${name}=${board.spec},${runnerOf('well', name)}`)
    const report = join(folder, 'report.jsonl')
    const targets = [one, two].flatMap((target) => ['--target', `${target},env=REPORT=${report}`])
    const { results, stderr } = await assayJson(['test', 'a.onnx', 'b.onnx', ...targets, '-j', '4'], folder)
    expect(results.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'pass', 'pass'])
    expect(stderr).toBe('')
    const alias = `two=${board.spec.replace('127.0.0.1', 'localhost')},${runnerOf()}`
    writeFileSync(
      board.knownHosts,
      readFileSync(board.knownHosts, 'utf8') + readFileSync(board.knownHosts, 'utf8').replace('127.0.0.1', 'localhost'),
    )
    const twice = await assayJson(['test', 'a.onnx', '--target', one!, '--target', alias, '-j', '1'], folder)
    const texts = twice.results.map(({ verdict, error }) => error?.message ?? verdict)
    expect(texts.filter((text) => text === 'pass')).toHaveLength(1)
    expect(texts.join('\n')).toMatch(
      /this run also names the board \S+ as \S+:\d+; write its address and port the same way/,
    )
  })

  test('one chip after another on the same board', async () => {
    const folder = project({ 'a.onnx': identity })
    const target = `b=${board.spec},${runnerOf('slow', '300')}`
    const { results } = await assayJson(['test', 'a.onnx', '--target', target, '--chip', 'x,y', '-j', '4'], folder)
    expect(results.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['a/full_model@b[x]', 'pass'],
      ['a/full_model@b[y]', 'pass'],
    ])
  })
})
