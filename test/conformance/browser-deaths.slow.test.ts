import { afterAll, expect, test } from 'vitest'
import type { Trace } from '../../src/domain/tensor.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { type BrowserPart, killPart } from '../support/browser-processes.ts'
import { until } from '../support/events.ts'
import { captureTensors, floats, numbersOf, saveModel, testPool, traceOf } from './capture.ts'
import { failureOf, workerPids } from './conformance.ts'
import { identity } from './models.ts'

const target = readTarget('chromium:webgpu')

/** Inputs on whose way a part of the browser is killed, as often as asked. */
function deadlyInputs(part: BrowserPart, times: number): { inputs: Trace; kills: () => number } {
  const inputs = traceOf({ x: floats([1, 2]) })
  const source = inputs.tensors.get('x')!
  let kills = 0
  async function* chunks() {
    yield new Uint8Array(4)
    if (kills < times) {
      const [worker] = workerPids()
      expect(killPart(part, process.pid)).toBeGreaterThan(0)
      kills++
      await until(() => !workerPids().includes(worker!), 'the worker has ended')
    }
    yield new Uint8Array(4)
  }
  return { inputs: { ...inputs, tensors: new Map([['x', { ...source, chunks }]]) }, kills: () => kills }
}

describeWithBrowser('a browser that loses a part', () => {
  const pool = testPool()
  afterAll(() => pool.close())

  test.each<[BrowserPart, RegExp]>([
    ['graphics', /^chromium:webgpu: the WebGPU device was lost/],
    ['tab', /^chromium:webgpu: the browser's tab crashed or was closed/],
    ['browser', /^chromium:webgpu: the browser was killed by SIGKILL/],
  ])('its %s, twice, is an error of its own kind; once is retried', async (part, message) => {
    const model = await saveModel(identity('float32'))
    const twice = deadlyInputs(part, 2)
    const error = await failureOf(captureTensors(pool, target, model, twice.inputs))
    expect(error).toMatchObject({ stage: 'run', side: 'target' })
    expect(error.message).toMatch(message)
    expect(error.message).toContain('twice, the second time alone in a fresh worker')
    expect(twice.kills()).toBe(2)
    const once = await captureTensors(pool, target, model, deadlyInputs(part, 1).inputs)
    expect(once.retried).toBe(true)
    expect(numbersOf(once.tensors.get('y'))).toEqual([0, 0])
  })
})
