import { beforeAll, expect, test } from 'vitest'
import { longWork } from '../conformance/models.ts'
import { ended, type JsonReport, project, startAssay } from '../support/assay.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { type BrowserPart, computedMs, killPart } from '../support/browser-processes.ts'
import { until } from '../support/events.ts'
import { affineModel } from '../support/small-models.ts'

/** Before a model is run the graphics process computes for less than a tenth of a second. */
const COMPUTING_MS = 400
/** Seconds; what hangs is an error that does not name the browser. */
const LIMIT = '120'

const MODELS = {
  'a-graphics.onnx': longWork(256, 30),
  'b-browser.onnx': longWork(256, 31),
  'c-tab.onnx': longWork(256, 32),
  'd-once.onnx': longWork(256, 10),
  'e-small.onnx': affineModel(),
}
/** Cases are judged one after another, by name: three die twice, one once. */
const KILLS: readonly BrowserPart[] = ['graphics', 'graphics', 'browser', 'browser', 'tab', 'tab', 'tab']

describeWithBrowser('a browser that loses a part while a model computes', () => {
  let report: JsonReport
  let kills = 0
  beforeAll(async () => {
    const targets = ['--target', 'chromium:webgpu', '--jobs', '1', '--timeout', LIMIT]
    const child = startAssay(['test', ...Object.keys(MODELS), ...targets, '--json'], project(MODELS))
    const isOver = () => child.exitCode !== null
    const [ran] = await Promise.all([ended(child), killInTurn(child.pid!, isOver)])
    report = JSON.parse(ran.stdout) as JsonReport
  }, 240_000)

  async function killInTurn(pid: number, isOver: () => boolean): Promise<void> {
    for (const part of KILLS) {
      await until(() => isOver() || computedMs('graphics', pid) >= COMPUTING_MS, 'it computes')
      kills += killPart(part, pid) > 0 ? 1 : 0
      await until(() => isOver() || computedMs('graphics', pid) < COMPUTING_MS, 'another one has its place')
    }
  }

  const resultOf = (model: string) => report.results.find(({ id }) => id.startsWith(`${model}/`))!

  test.each([
    ['a-graphics', 'the WebGPU device was lost'],
    ['b-browser', 'the browser was killed by SIGKILL'],
    ['c-tab', "the browser's tab crashed or was closed"],
  ])('%s, twice, is an error that says so', (model, what) => {
    const { verdict, error } = resultOf(model)
    expect(error).toMatchObject({ stage: 'run', side: 'target' })
    expect(error?.message).toMatch(new RegExp(`^chromium:webgpu: ${what}.*, twice, the second time alone`))
    expect([verdict, kills]).toEqual(['error', KILLS.length])
  })

  test('a tab that is lost once is replaced, and that result counts', () => {
    expect(resultOf('d-once')).toMatchObject({ verdict: 'pass', flags: ['retried'] })
  })

  test('other models pass', () => {
    expect(resultOf('e-small')).toMatchObject({ verdict: 'pass', flags: [] })
  })
})
