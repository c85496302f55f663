import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { latestRun, listRuns, readRun } from '../record/read-run.ts'
import { freshFolder, makeKey, PASS, runRequest, tinySuite } from '../testing/tiny-suite.ts'
import { executeRun } from './execute.ts'

const JITI = pathToFileURL(createRequire(import.meta.url).resolve('jiti')).href

/** A script that runs our own sources in a process of its own, which can be killed or limited. */
function writeScript(folder: string, body: string, fsCache: string | false = false): string {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const path = join(folder, 'child.mjs')
  writeFileSync(
    path,
    `import { createJiti } from ${JSON.stringify(JITI)}
    import { writeFile } from 'node:fs/promises'
    import { join } from 'node:path'
    const jiti = createJiti(${JSON.stringify(import.meta.url)}, { fsCache: ${JSON.stringify(fsCache)} })
    const { executeRun } = await jiti.import(${JSON.stringify(join(here, 'execute.ts'))})
    const { runRequest, tinySuite, PASS, makeKey } = await jiti.import(${JSON.stringify(join(here, '../testing/tiny-suite.ts'))})
    const folder = ${JSON.stringify(folder)}
    ${body}`,
  )
  return path
}

const IDS = Array.from({ length: 60 }, (_, i) => `case${String(i).padStart(2, '0')}`)

/** Runs for ever, in an empty cache each time, until it is killed. */
const ENDLESS = `
  const ids = ${JSON.stringify(IDS)}
  const suite = tinySuite(ids, async (c, lab) => {
    await lab.step({ title: 'fill', stage: 'run', key: makeKey(c.id) }, async (at) => {
      for (const name of ['x', 'y']) await writeFile(join(at, name), c.id.repeat(20_000))
      return c.id
    })
    await lab.keep('y', join(folder, 'child.mjs'))
    process.stdout.write('.')
    return PASS
  })
  process.stdout.write('.')
  for (;;) await executeRun(runRequest(folder, suite, { jobs: 2, recompute: true }))
`

/** The first dot says that it is ready, each one after it that a case was judged. */
async function killedAfter(child: ChildProcess, dots: number): Promise<void> {
  let seen = 0
  child.stdout!.on('data', (text: Uint8Array) => {
    seen += text.length
    if (seen >= dots) child.kill('SIGKILL')
  })
  await once(child, 'exit')
}

describe('kill -9', () => {
  test('at any moment leaves readable records and whole products', async () => {
    const folder = freshFolder()
    const script = writeScript(folder, ENDLESS, join(folder, 'compiled'))
    let cutShort = 0
    for (const dots of [1, 2, 9, 30, 58, 75]) {
      await killedAfter(spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] }), dots)
      cutShort += await checkRecords(join(folder, 'runs'))
    }
    expect(cutShort).toBeGreaterThan(0)
    await checkProducts(folder)
    expect(readdirSync(join(folder, 'cache', 'tmp'))).toEqual([])
    rmSync(folder, { recursive: true })
  })
})

/** Gives 1 where the newest run was cut short. */
async function checkRecords(runsFolder: string): Promise<number> {
  for (const path of await listRuns(runsFolder)) await readRun(path)
  const newest = await latestRun(runsFolder)
  if (newest === null) return 0
  const run = await readRun(newest)
  if (run.complete) return 0
  expect(run.why).toMatch(/ended without finishing the record .* of 60 cases judged/)
  return 1
}

/** A later run on the same cache: every product it finds must be whole, and some must be found. */
async function checkProducts(folder: string): Promise<void> {
  let found = 0
  const suite = tinySuite(IDS, async (c, lab) => {
    const spec = { title: 'fill', stage: 'run', key: makeKey(c.id) } as const
    const product = await lab.step(spec, () => Promise.resolve('made now'))
    if (product.cached) {
      found++
      expect(product.value).toBe(c.id)
      for (const name of ['x', 'y']) expect(readFileSync(join(product.folder, name), 'utf8')).toBe(c.id.repeat(20_000))
    }
    return PASS
  })
  const { results } = await executeRun(runRequest(folder, suite))
  expect(results.flatMap(({ error }) => error ?? [])).toEqual([])
  expect(found).toBeGreaterThan(0)
}

async function runLimited(folder: string, body: string): Promise<number> {
  const script = writeScript(folder, `${body}\nprocess.stdout.write(JSON.stringify(outcome.exitCode))`)
  const limit = `ulimit -f 100; exec "$0" "$1"`
  const child = spawn('bash', ['-c', limit, process.execPath, script], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Uint8Array) => {
    text += String(chunk)
  })
  await once(child, 'close')
  return Number(text)
}

describe('a full disk', () => {
  test('is an error of the case that needed the room, and the run goes on', async () => {
    const folder = freshFolder()
    const exitCode = await runLimited(
      folder,
      `const suite = tinySuite(['a', 'big', 'c', 'kept'], async (c, lab) => {
        if (c.id === 'kept') await lab.keep('node', process.execPath)
        await lab.step({ title: 'fill', stage: 'run', side: 'target', key: makeKey(c.id) }, (at) =>
          writeFile(join(at, 'x'), 'x'.repeat(c.id === 'big' ? 1e6 : 10)))
        return PASS
      })
      const outcome = await executeRun(runRequest(folder, suite))`,
    )
    expect(exitCode).toBe(1)
    const run = await readRun((await latestRun(join(folder, 'runs')))!)
    expect(run.complete).toBe(true)
    expect(run.results.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      'a pass',
      'big error',
      'c pass',
      'kept error',
    ])
    const message =
      'a file grew over the size limit while working on "fill"; raise it (ulimit -f) or use another folder'
    expect(run.results[1]?.error).toEqual({ stage: 'run', side: 'target', message })
    expect(run.results[3]?.error?.message).toMatch(/size limit while working on "keep node"/)
    expect(readdirSync(join(folder, 'cache', 'tmp'))).toEqual([])
    expect(readdirSync(join(run.folder, 'artifacts'))).toEqual([])
  })

  test('that has no room for results ends the run, and the record keeps what fitted', async () => {
    const folder = freshFolder()
    const exitCode = await runLimited(
      folder,
      `const suite = tinySuite(['a', 'b', 'c', 'd'], async () => ({ ...PASS, reason: 'x'.repeat(40_000) }))
      const outcome = await executeRun(runRequest(folder, suite))`,
    )
    expect(exitCode).toBe(3)
    const run = await readRun((await latestRun(join(folder, 'runs')))!)
    expect(run).toMatchObject({ complete: false, header: { state: 'failed' } })
    expect(run.why).toMatch(
      /it failed: a file grew over the size limit while writing .*results.jsonl.*2 of 4 cases judged/,
    )
    expect(run.results.map(({ id }) => id)).toEqual(['a', 'b'])
  })
})
