import { describe, expect, test } from 'vitest'
import { type GpuDevice, withWarnings } from './graphics.ts'
import { type KernelMaker, Shaders } from './shaders.ts'

type Module = ReturnType<KernelMaker['createShaderModule']>

/** Refuses shaders that say so, as Chromium does: of each run only the first complaint is told, a kernel used again is "invalid". */
class Device implements KernelMaker, GpuDevice {
  readonly lost = new Promise<never>(() => {})
  readonly #scopes: string[][] = []

  createShaderModule({ label, code }: Parameters<KernelMaker['createShaderModule']>[0]): Module {
    const line = code.split('\n').findIndex((text) => text.includes('wrong'))
    const message = line < 0 ? '' : `${code.split('\n')[line]!.trim()} is no WGSL`
    if (message) this.#complain(`Error while parsing WGSL: ${message} - [ShaderModuleDescriptor ""${label}""]`)
    const messages = message ? [{ type: 'error', message, lineNum: line + 1, linePos: 1 }] : []
    return { label: label ?? '', getCompilationInfo: async () => ({ messages }) }
  }

  createComputePipeline({ label }: Parameters<KernelMaker['createComputePipeline']>[0]): string {
    return label ?? ''
  }

  async createComputePipelineAsync(descriptor: Parameters<KernelMaker['createComputePipeline']>[0]): Promise<string> {
    return this.createComputePipeline(descriptor)
  }

  dispatch(pipeline: unknown): void {
    this.#complain(`[Invalid ComputePipeline "${pipeline}"] is invalid.`)
  }

  pushErrorScope(): void {
    this.#scopes.push([])
  }

  async popErrorScope(): Promise<{ readonly message: string } | null> {
    const [message] = this.#scopes.pop() ?? []
    return message === undefined ? null : { message }
  }

  #complain(message: string): void {
    this.#scopes.at(-1)?.push(message)
  }
}

function browser() {
  const [device, shaders] = [new Device(), new Shaders()]
  shaders.watch(device)
  const kernel = (code: string) =>
    device.createComputePipeline({
      label: 'Pow',
      compute: { module: device.createShaderModule({ label: 'Pow', code }) },
    })
  const warningsOf = async (work: () => unknown) => (await withWarnings(device, shaders, async () => work()))[1]
  return { device, kernel, warningsOf }
}

const FLOATS = 'fn f() {\n  wrong floats\n}'
const INTEGERS = 'fn f() {\n  wrong integers\n}'

describe('a shader that the device refused', () => {
  test('is quoted with the line that does not compile', async () => {
    const { kernel, warningsOf } = browser()
    expect(await warningsOf(() => kernel(FLOATS))).toEqual([
      'shader "Pow" does not compile: wrong floats is no WGSL in line 2, wrong floats',
    ])
  })

  test('is quoted as it is when another model uses its kernel again, whatever else has its name', async () => {
    const { device, kernel, warningsOf } = browser()
    let integers: unknown
    const first = await warningsOf(() => {
      kernel(FLOATS)
      integers = kernel(INTEGERS)
    })
    const second = await warningsOf(() => device.dispatch(integers))
    expect([first, second]).toEqual([
      [expect.stringContaining('wrong floats')],
      [expect.stringContaining('wrong integers')],
    ])
  })

  test('is quoted the same at its first and at a later use', async () => {
    const { device, kernel, warningsOf } = browser()
    let pipeline: unknown
    const first = await warningsOf(() => {
      pipeline = kernel(FLOATS)
    })
    await warningsOf(() => kernel(INTEGERS))
    expect(await warningsOf(() => device.dispatch(pipeline))).toEqual(first)
  })
})

test('what the device says about a shader that compiles is told as it is, without our number', async () => {
  const { device, kernel, warningsOf } = browser()
  const pipeline = kernel('fn f() {}')
  expect(await warningsOf(() => device.dispatch(pipeline))).toEqual(['[Invalid ComputePipeline "Pow"] is invalid.'])
})
