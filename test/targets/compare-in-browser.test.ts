import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemBrowser } from '../../src/runtimes/chromium/find-browser.ts'
import { describeWithBrowser } from '../support/browser.ts'

const ORIGIN = 'http://assay.test'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

interface Judged {
  readonly verdict: string
  readonly metrics: readonly (readonly [string, string])[]
}

interface Compared {
  readonly kernels: string
  readonly found: Readonly<Record<string, Judged>>
  readonly logits: { readonly distances: Judged['metrics'] }
}

/** Metrics that come from sums, which the kernels keep in float32 for a while, and from histograms of float32. */
const ROUNDED = /^(mean|rmse|rel_l2|snr_db|cosine|median|p99)/

/** In parts of the value. */
function errorOf(metric: string): number {
  return /median|p99/.test(metric) ? 0.008 : 3e-6
}

/** Everything but those metrics. */
function exactPart({ found, logits }: Compared) {
  const judged = Object.entries(found).map(([name, { metrics, ...rest }]) => {
    return [name, { ...rest, metrics: metrics.filter(([metric]) => !ROUNDED.test(metric)) }]
  })
  const { distances, ...ids } = logits
  return { judged, ids }
}

function numbersOf({ found, logits }: Compared): [string, number][] {
  const all = Object.entries(found).flatMap(([name, { metrics }]) =>
    metrics.map(([m, value]) => [`${name} ${m}`, value]),
  )
  return [...all, ...logits.distances].map(([name, value]) => [name!, Number(value)])
}

// Node 20 sometimes waits for ever for its own compiler when it ends (nodejs/node#54918), so it is killed.
const COMPARE = `
import { writeSync } from 'node:fs'
import { compareAll } from './test/workers/compare-everywhere.mjs'
writeSync(1, await compareAll())
process.kill(process.pid, 'SIGKILL')
`

function compareHere(): Compared {
  const env = { ...process.env, ASSAY_KERNELS: 'wasm' }
  const args = ['--input-type=module', '-e', COMPARE]
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

describeWithBrowser('comparing in a page', () => {
  let browser: Browser

  beforeAll(async () => {
    const executablePath = systemBrowser(process.env.PATH ?? '')
    if (!executablePath) throw new Error('ASSAY_TEST_BROWSER=required, but there is no Chromium or Chrome')
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  /** A page that gets the built modules as they are and nothing else. */
  async function compareInPage(kernels: string | null): Promise<Compared> {
    const page = await browser.newPage()
    const heard: string[] = []
    page.on('pageerror', (error) => heard.push(String(error)))
    page.on('console', (message) => heard.push(message.text()))
    await page.route(`${ORIGIN}/**`, async (route) => {
      const { pathname } = new URL(route.request().url())
      if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: '<title>page</title>' })
      const body = await readFile(join(ROOT, pathname), 'utf8').catch(() => null)
      return route.fulfill(body === null ? { status: 404 } : { contentType: 'text/javascript', body })
    })
    await page.goto(`${ORIGIN}/`)
    if (kernels) await page.evaluate(`globalThis.process = { env: { ASSAY_KERNELS: '${kernels}' } }`)
    const text = await page.evaluate(
      "import('/test/workers/compare-everywhere.mjs').then(({ compareAll }) => compareAll())",
    )
    await page.close()
    expect(heard).toEqual([])
    return JSON.parse(String(text))
  }

  test('WebAssembly gives there what it gives in Node, to the last bit', async () => {
    const there = await compareInPage(null)
    expect(there.kernels).toBe('wasm')
    expect(there).toEqual(compareHere())
  })

  test('the plain kernels give the same verdicts, counts, maxima and places, sums and quantiles within their error', async () => {
    const [wasm, scalar] = [await compareInPage('wasm'), await compareInPage('scalar')]
    expect([wasm.kernels, scalar.kernels]).toEqual(['wasm', 'scalar'])
    expect(exactPart(wasm)).toEqual(exactPart(scalar))
    expect(new Set(Object.values(wasm.found).map(({ verdict }) => verdict))).toEqual(new Set(['pass', 'fail']))
    const wanted = new Map(numbersOf(scalar))
    for (const [name, value] of numbersOf(wasm)) {
      const by = wanted.get(name)!
      if (Number.isFinite(by)) expect(Math.abs(value - by), name).toBeLessThanOrEqual(errorOf(name) * Math.abs(by))
      else expect(value, name).toEqual(by)
    }
  })
})
