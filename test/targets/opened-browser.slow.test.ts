import { beforeAll, expect, test } from 'vitest'
import { longWork } from '../conformance/models.ts'
import { ended, type JsonReport, project, startAssay } from '../support/assay.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { computedMs } from '../support/browser-processes.ts'
import { until } from '../support/events.ts'
import { closeBrowser, openInBrowser } from '../support/person.ts'
import { affineModel } from '../support/small-models.ts'

/** Loading the page and the library costs a third of it. */
const COMPUTING_MS = 1500
/** Seconds; what hangs is an error that does not name the page. */
const LIMIT = '120'
const MODELS = { 'a-long.onnx': longWork(1024, 100), 'b-small.onnx': affineModel(), 'c-small.onnx': affineModel(3) }

function addressIn(stderr: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  return new Promise((resolve) => {
    stderr.on('data', (piece) => {
      text += piece
      const [, address] = /open (http:\/\/127\.0\.0\.1:\d+\/#[0-9a-f]{32})$/m.exec(text) ?? []
      if (address) resolve(address)
    })
  })
}

describeWithBrowser('a browser that somebody opens', () => {
  let report: JsonReport & { stderr: string }
  beforeAll(async () => {
    const targets = ['--target', 'browser:wasm', '--jobs', '1', '--timeout', LIMIT]
    const child = startAssay(['test', ...Object.keys(MODELS), ...targets, '--json'], project(MODELS))
    const isOver = () => child.exitCode !== null
    const [ran] = await Promise.all([ended(child), addressIn(child.stderr).then((at) => openAndLose(at, isOver))])
    report = { ...(JSON.parse(ran.stdout) as JsonReport), stderr: ran.stderr }
  }, 240_000)

  /** Twice it is killed while it computes; the third one lives. */
  async function openAndLose(address: string, isOver: () => boolean): Promise<void> {
    for (let kills = 0; kills < 2; kills++) {
      const browser = openInBrowser(address)
      await until(() => isOver() || computedMs('tab', browser.pid!) >= COMPUTING_MS, 'the tab computes')
      await closeBrowser(browser)
    }
    openInBrowser(address)
  }

  test('runs models, whichever of its tabs has them', () => {
    const others = report.results.slice(1)
    expect(
      others.map(({ verdict }) => verdict),
      report.stderr,
    ).toEqual(['pass', 'pass'])
    for (const { measurements } of others) {
      expect(measurements['target.browser']).toMatch(/ \d+(\.\d+){3}$/)
      expect(measurements).toMatchObject({ 'target.bundle': 'ort.wasm.min.mjs', 'target.isolated': 'true' })
    }
  })

  test('is lost twice over one model, which is an error of that one', () => {
    const { id, verdict, error } = report.results[0]!
    expect([id, verdict]).toEqual(['a-long/full_model@browser:wasm', 'error'])
    expect(error).toMatchObject({ stage: 'run', side: 'target' })
    expect(error?.message).toMatch(/: the page was closed, reloaded or crashed, twice, the second time alone/)
  })
})

describeWithBrowser('a page that does not come back', () => {
  test('is waited for once more, and its other cases do not wait again', async () => {
    const targets = ['--target', 'browser:wasm,wait=20', '--jobs', '1', '--timeout', LIMIT]
    const child = startAssay(['test', ...Object.keys(MODELS), ...targets, '--json'], project(MODELS))
    const running = ended(child)
    const browser = openInBrowser(await addressIn(child.stderr))
    await until(() => child.exitCode !== null || computedMs('tab', browser.pid!) >= COMPUTING_MS, 'the tab computes')
    await closeBrowser(browser)
    const { stdout, stderr } = await running
    const { results } = JSON.parse(stdout) as JsonReport
    const waits = stderr.match(/^browser:wasm,wait=20 is waiting for its page to come back: http:\/\/127\.0\.0\.1:/gm)
    expect(waits).toHaveLength(1)
    expect(results.map(({ verdict }) => verdict)).toEqual(['error', 'error', 'error'])
    const [first, second] = results.map(({ error }) => error)
    expect(first).toMatchObject({ stage: 'run' })
    expect(first!.message).toContain('crashed; then, alone in a fresh worker: nobody opened the page within 20 s')
    expect(second!.message).toContain('nobody opened the page within 20 s')
  })
})
