import { EventEmitter } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { formatHeader, type StoredTensor } from '../files/formats/trace-header.ts'
import { RunRecord } from '../runs/record/record.ts'
import { commandLineTable } from './commands.ts'
import type { CommandIo } from './io.ts'
import { run } from './program.ts'
import { interruptSignals } from './signals.ts'

const { commands } = commandLineTable()

/** Streams that keep what was written. */
function keptIo(changes: Partial<CommandIo> = {}) {
  const texts = { stdout: '', stderr: '' }
  const keep = (name: keyof typeof texts) =>
    new Writable({
      write(chunk, _encoding, done) {
        texts[name] += chunk
        done()
      },
    })
  const cwd = mkdtempSync(join(tmpdir(), 'program-'))
  const [stdout, stderr] = [keep('stdout'), keep('stderr')]
  const io: CommandIo = {
    cwd,
    env: {},
    stdin: Readable.from([]),
    stdout,
    stderr,
    signals: new EventEmitter(),
    ...changes,
  }
  return { io, texts }
}

async function ran(argv: readonly string[], env: CommandIo['env'] = {}) {
  const { io, texts } = keptIo({ env })
  return { code: await run(argv, io), ...texts }
}

/** Fails where the environment is looked at. */
function failing(io: CommandIo, error: Error): CommandIo {
  return new Proxy(io, {
    get: (target, key) => {
      if (key === 'env') throw error
      return Reflect.get(target, key)
    },
  })
}

/** A safetensors file with one tensor of one string. */
function strings(data: number[]): Buffer {
  const tensor: StoredTensor = { name: 'x', dtype: 'string', shape: [1], start: 0, byteLength: data.length }
  const header = Buffer.from(formatHeader({ values: [{ name: 'x', kind: 'tensor', length: 1 }], tensors: [tensor] }))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  return Buffer.concat([length, header, Buffer.from(data)])
}

describe('a command line', () => {
  test('that asks for help or the version gets it on stdout', async () => {
    const { code, stdout, stderr } = await ran(['--help'])
    expect([code, stderr]).toEqual([0, ''])
    for (const { name, hidden } of commands) {
      const isListed = stdout.includes(`\n  ${name}`)
      expect(isListed, name).toBe(hidden !== true)
    }
    expect(await ran(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })

  test.each(commands.map(({ name }) => name))('%s explains its options', async (name) => {
    const { code, stdout, stderr } = await ran([name, '--help'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`Usage: assay ${name}`)
  })

  test.each([
    [['tset'], "unknown command 'tset' (Did you mean test?)"],
    [['test', '--traget', 'ort'], "unknown option '--traget' (Did you mean --target?)"],
    [['test', 'x.onnx', '--debug-ir'], 'argument missing; write --debug-ir <folder>'],
    [['test', 'nowhere.onnx'], 'nowhere.onnx'],
    [['run'], 'no assay.config.ts, .js, .json or .yaml here'],
    [['run', 'x.onnx'], 'assay run judges what the configuration names, found "x.onnx"; use assay test x.onnx'],
    [['decoders'], 'assay decoders test'],
    [['decoders', 'tset', 'm'], 'did you mean "test"?'],
    [['converge', 'demo.yml'], 'write assay converge -t demo.yml -s <storage>'],
    [['thresholds', '--metrics-dir', 'metric'], 'metric is not a folder of metric files'],
    [['diff', 'a.npy', 'b.npy'], 'there is no file or folder "a.npy"'],
    [['merge'], "missing required argument 'runs'"],
    [['cache', 'clean'], 'did you mean "clear"?'],
    [['micro', 'lama'], 'did you mean "llama"?'],
    [['setup', 'pyhton'], 'did you mean "python"?'],
    [['boards', 'fre', 'root@b'], 'did you mean "free"?'],
    [['completion', 'fich'], 'did you mean "fish"?'],
    [['test', '--watch', '--json'], '--watch is interactive and --json is for a single run'],
  ])('%j is a usage error in one line', async (argv, words) => {
    const { code, stdout, stderr } = await ran(argv)
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toContain(words)
    expect(stderr).toMatch(/^assay: [^\n]+\n$/)
  })

  test('with a mistyped variable is refused; one that is empty counts as unset', async () => {
    expect(await ran(['cache'], { ASSAY_CACHE_DRI: 'x' })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('did you mean "ASSAY_CACHE_DIR"?'),
    })
    expect(await ran(['cache'], { ASSAY_CACHE_DRI: '', ASSAY_CACHE_DIR: '' })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 products, 0.0 MB of 10000.0 MB in .assay/cache'),
    })
  })

  test('whose Python is an empty variable looks for the one that was set up', async () => {
    const { code, stdout, stderr } = await ran(['setup', 'python', '--list'], { ASSAY_PYTHON: '' })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('no Python is set up here')
  })

  test('in the words of other tools says once how they are written here', async () => {
    const { stderr } = await ran(['test', 'nowhere.onnx', '--torq-chips', 'a', '--torq-chips', 'a'])
    expect(stderr.match(/--torq-chips is written/g)).toHaveLength(1)
  })

  test.each([
    ['of strings that are cut off', 'a string of the reference claims 4294967295 bytes', strings([255, 255, 255, 255])],
    ['of nothing', 'has ONNX dtype 0, which Assay cannot decode', Buffer.alloc(0)],
    ['of a dtype that nobody knows', 'has ONNX dtype 99, which Assay cannot decode', Buffer.from([0x10, 99])],
  ])('that compares a file %s says so, and exits 4', async (_what, words, bytes) => {
    const { io, texts } = keptIo()
    const name = bytes.length > 8 ? 'a.safetensors' : 'a.pb'
    writeFileSync(join(io.cwd, name), bytes)
    expect(await run(['diff', name, name], io)).toBe(4)
    expect(texts.stderr).toContain(words)
    expect(texts.stderr).toMatch(/^assay: [^\n]+\n$/)
  })

  test('that merges shards of strangers prints nothing that steers a terminal or a CI', async () => {
    const { io, texts } = keptIo()
    const shards = await Promise.all(
      [1, 2].map(async (index) => {
        const environment = { [`c\u001b[2J${index}`]: '\u001b]0;pwn\u0007\n::error title=x::y' }
        const plan = { digest: 'd', cases: [], selected: [] }
        const record = await RunRecord.create(io.cwd, { shard: { index, count: 2 }, environment, options: {}, plan })
        await record.finish({ state: 'complete', summary: null })
        return record.folder
      }),
    )
    await run(['merge', ...shards], io)
    expect(texts.stderr).toContain('the shards ran in different environments')
    expect(texts.stderr + texts.stdout).not.toMatch(/\u001b\]|\u001b\[2J|\u0007|^::/m)
  })

  test('that may not open more files says how to allow more', async () => {
    const { io, texts } = keptIo()
    const full = Object.assign(new Error('EMFILE: too many open files, open x'), { code: 'EMFILE' })
    expect(await run(['cache'], failing(io, new Error('the cache cannot be read', { cause: full })))).toBe(4)
    expect(texts.stderr).toBe(
      'assay: this process may not open more files (EMFILE); allow more with `ulimit -n 1024`, or run fewer --jobs\n',
    )
  })

  test('that meets a broken or a full disk says so in words', async () => {
    const at = (code: string) => Object.assign(new Error(`${code}: write`), { code, path: 'x/y' })
    const [broken, full] = [keptIo(), keptIo()]
    expect(await run(['cache'], failing(broken.io, at('EIO')))).toBe(4)
    expect(broken.texts.stderr).toBe('assay: the disk reported an error (EIO) at x/y; check the disk, then try again\n')
    expect(await run(['cache'], failing(full.io, at('ENOSPC')))).toBe(4)
    expect(full.texts.stderr).toMatch(/^assay: the disk is full \(ENOSPC\) while writing x\/y; free some space.*\n$/)
  })

  test('that meets a bug says so with its stack, and exits 3', async () => {
    const { io, texts } = keptIo()
    expect(await run(['cache'], failing(io, new TypeError('no environment')))).toBe(3)
    expect(texts.stderr).toMatch(
      /^assay: internal error\. This is a bug in Assay.*\nTypeError: no environment\n {4}at /,
    )
  })
})

test('an interruption ends a run softly, the second one at once; then nobody listens', () => {
  const signals = new EventEmitter()
  const { io, texts } = keptIo({ signals })
  const run = interruptSignals([], io)
  signals.emit('SIGINT')
  expect([run.signals.stop.aborted, run.signals.abort.aborted]).toEqual([true, false])
  signals.emit('SIGTERM')
  expect(run.signals.abort.aborted).toBe(true)
  expect(texts.stderr).toBe('interrupted: finishing running cases; interrupt again to stop now\n')
  run.release()
  expect(signals.listenerCount('SIGINT') + signals.listenerCount('SIGTERM')).toBe(0)
})
