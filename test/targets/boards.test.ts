import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildModel } from '../../src/onnx/builder.ts'
import { encodeNumbers } from '../../src/tensors/encode.ts'
import { withExternalWeights } from '../conformance/models.ts'
import { assay, assayJson, project, root, temporaryFolder } from '../support/assay.ts'
import { until } from '../support/events.ts'
import { describeWithBoard, runnerOf } from '../support/sshd.ts'

const identity = (name = 'x') =>
  buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [4] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [4] }],
    nodes: [{ op: 'Identity', name, inputs: ['x'], outputs: ['y'] }],
  })

const doubling = buildModel({
  inputs: [{ name: 'x', dtype: 'float32', shape: [4] }],
  outputs: [{ name: 'y', dtype: 'float32', shape: [4] }],
  initializers: { two: { dtype: 'float32', shape: [1], bytes: encodeNumbers('float32', [2]) } },
  nodes: [{ op: 'Mul', inputs: ['x', 'two'], outputs: ['y'] }],
})

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

function reported(path: string): Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

await describeWithBoard('a board behind ssh', (board) => {
  test('judges a model, and is left as it was found', async () => {
    const folder = project({ 'good.onnx': identity(), 'doubled.onnx': doubling })
    const target = `board=${board.spec},${runnerOf()}`
    const { code, results } = await assayJson(['test', 'good.onnx', 'doubled.onnx', '--target', target], folder)
    expect(results.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['doubled/full_model@board', 'fail'],
      ['good/full_model@board', 'pass'],
    ])
    expect(code).toBe(1)
    expect(results[0]!.measurements['target.board']).toContain(`${board.user}@127.0.0.1,port=${board.port} (`)
    await until(() => board.isLeftClean(), 'the board is as it was')
  })

  test('a model is sent once, by its content, and checked there', async () => {
    const model = identity('sent once')
    const folder = project({ 'models/a.onnx': model })
    const target = ['--target', `board=${board.spec},${runnerOf()}`, '--recompute']
    await assayJson(['test', 'models', ...target], folder)
    const blob = join(board.cache, 'blobs', sha256(model))
    const first = statSync(blob)
    expect(first.mode & 0o777).toBe(0o400)
    const sessions = () => board.log().match(/Starting session/g)?.length ?? 0
    const before = sessions()
    await assayJson(['test', 'models', ...target], folder)
    expect([statSync(blob).ino, statSync(blob).ctimeMs > 0]).toEqual([first.ino, true])
    // The line, the shell for errands and the runner; an upload would be one more.
    expect(sessions() - before).toBe(3)
    chmodSync(blob, 0o600)
    writeFileSync(blob, 'what a power failure left')
    writeFileSync(join(board.cache, 'checked', sha256(model)), 'another boot\n')
    const { results } = await assayJson(['test', 'models', ...target], folder)
    expect(results.map(({ verdict }) => verdict)).toEqual(['pass'])
    expect(sha256(readFileSync(blob))).toBe(sha256(model))
  })

  test('external data lies beside the model, as plain files', async () => {
    const { model, weights } = withExternalWeights("we'ights and more.bin")
    const folder = project({ 'm/a.onnx': model, "m/we'ights and more.bin": weights })
    const report = join(folder, 'report.jsonl')
    const { results } = await assayJson(
      ['test', 'm', '--target', `board=${board.spec},${runnerOf()},env=REPORT=${report}`],
      folder,
    )
    expect(results.map(({ error }) => error)).toEqual([undefined])
    expect(reported(report)[1]).toMatchObject({
      sha256: sha256(model),
      files: [`model.onnx (1 link)`, "we'ights and more.bin (1 link)"],
    })
  })

  test('words with blanks, quotes and dollars arrive as they are', async () => {
    const folder = project({ 'good.onnx': identity() })
    const place = join(temporaryFolder(`it's "odd" $(id)`), `run it's.mjs`)
    copyFileSync(join(root, 'test/workers/board-runner.mjs'), place)
    const report = join(folder, 'report.jsonl')
    const odd = `it's "two" \`words\` $HOME \\ *`
    const spec = `board=${board.spec},program=${process.execPath},arg=run it's.mjs,arg=well,arg=${odd},deploy=${place}`
    const env = { SECRET: 'line one\nline "two"' }
    const run = ['test', 'good.onnx', '--target', `${spec},env=ODD=${odd},env=REPORT=${report},env=SECRET`]
    const { results } = await assayJson(run, folder, env)
    expect(results.map(({ verdict }) => verdict)).toEqual(['pass'])
    expect(reported(report)[0]).toMatchObject({ argv: ['well', odd], env: { ODD: odd, SECRET: env.SECRET } })
    expect(JSON.stringify(results)).not.toContain('line one')
  })

  test('a folder is deployed whole, with executable bits', async () => {
    const folder = project({ 'good.onnx': identity(), 'runner/lib/part.txt': 'a part\n' })
    copyFileSync(join(root, 'test/workers/board-runner.mjs'), join(folder, 'runner/lib/runner.mjs'))
    const start = `#!/bin/sh\ncat "\${0%/*}/lib/part.txt" >&2\nexec '${process.execPath}' lib/runner.mjs\n`
    writeFileSync(join(folder, 'runner/start-it'), start, { mode: 0o755 })
    const run = (program: string) =>
      assay(['test', 'good.onnx', '-s', '--target', `board=${board.spec},program=${program},deploy=runner`], folder)
    const { code, stderr } = await run('start-it')
    expect(stderr).toContain('a part')
    expect(code).toBe(0)
    const missing = await run('./start_it')
    expect(missing.stdout).toMatch(
      /the board has no program "\.\/start_it" .*program= names another, deploy= sends one/,
    )
  })

  test.each([
    ['dies-by-signal', /the runner ".*" on the board was killed by SIGSEGV, twice/],
    ['ends-with-3', /the runner ".*" on the board ended with exit code 3, twice/],
    ['never-starts', /the runner ".*" on the board did not start within 1500 ms/],
  ])('a runner that %s is an error that says so', async (how, text) => {
    const folder = project({ 'good.onnx': identity() })
    const limit = how === 'never-starts' ? ',start=1500ms' : ''
    const target = `board=${board.spec},${runnerOf(how)}${limit}`
    const { code, stdout } = await assay(['test', 'good.onnx', '--target', target], folder)
    expect(stdout.replaceAll('\n', ' ')).toMatch(text)
    expect(code).toBe(1)
    await until(() => board.isLeftClean(), 'the board is as it was')
  })

  test('a runner that is late is ended with all that it started, and the command shown is one for people', async () => {
    const folder = project({ 'good.onnx': identity() })
    const target = `board=${board.spec},${runnerOf('leaves-a-child')},run=2`
    const { code, stdout } = await assay(['test', 'good.onnx', '--target', target], folder)
    expect(stdout).toContain('the worker did not run the model within 2000 ms')
    expect(stdout).toMatch(/^ +command +ssh \S+@127\.0\.0\.1,port=\d+ \S+ board-runner\.mjs leaves-a-child$/m)
    expect(code).toBe(1)
    await until(() => board.isLeftClean(), 'the board is as it was')
  })

  test('boards are listed with what they keep, freed and cleaned', async () => {
    const config = { targets: { bench: `${board.spec},${runnerOf()}`, other: 'ort:cpu' } }
    const folder = project({ 'good.onnx': identity(), 'assay.config.json': JSON.stringify(config) })
    await assay(['test', 'good.onnx', '--target', 'bench'], folder)
    const listed = await assay(['boards'], folder)
    expect(listed.stdout).toMatch(/^✓ bench = \S+@127\.0\.0\.1,port=\d+,lease=\S+\n +free · /)
    expect(listed.stdout.replace(/\s+/g, ' ')).toMatch(/\d+ files kept \([\d.]+ [KM]iB\) in /)
    const json = JSON.parse((await assay(['boards', 'bench', '--json'], folder)).stdout)
    expect(json).toMatchObject({
      schema: 'assay/boards@1',
      boards: [{ targets: ['bench'], outcome: { holder: null } }],
    })
    expect(board.blobs().length).toBeGreaterThan(1)
    expect((await assay(['boards', 'clean', 'bench'], folder)).stdout).toMatch(/[\d.]+ [KM]iB removed/)
    expect(board.blobs()).toEqual([])
    expect((await assay(['boards', 'free', 'bench'], folder)).stdout).toMatch(/was free/)
    const wrong = await assay(['boards', 'free', 'other'], folder)
    expect([wrong.code, wrong.stderr]).toEqual([
      4,
      'assay: the target "other" runs with ort; only ssh targets are on boards\n',
    ])
  })

  test('folders that a lost run left are shown, and go when the board is freed or used', async () => {
    const folder = project({ 'good.onnx': identity() })
    const leave = () => {
      const place = join(board.cache, 'sessions/lostlost')
      mkdirSync(join(place, 'models'), { recursive: true })
      writeFileSync(join(place, 'models/big'), Buffer.alloc(3 * 2 ** 20))
      writeFileSync(join(place, 'node'), `${readFileSync('/proc/sys/kernel/hostname', 'utf8')}`)
      writeFileSync(join(place, 'boot'), 'an earlier one\n')
    }
    leave()
    const listed = await assay(['boards', board.spec], folder)
    expect(listed.stdout.replace(/\s+/g, ' ')).toMatch(/^! .* 1 leftover folder \(3\.0 MiB\) .* → assay boards free /)
    const freed = await assay(['boards', 'free', board.spec], folder)
    expect(freed.stdout).toContain('1 leftover folder removed')
    expect(board.sessions()).toEqual([])
    leave()
    await assay(['test', 'good.onnx', '--target', `board=${board.spec},${runnerOf()}`], folder)
    await until(() => board.isLeftClean(), 'the board is as it was')
  })
})
