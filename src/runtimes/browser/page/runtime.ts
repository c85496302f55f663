/// <reference lib="dom" />
import type { Capabilities, DecodeStep, OpenOptions, Probe, Runtime, Session, ShippedModel } from '../../contract.ts'
import { createSession } from '../../ort/create-session.ts'
import type { OnnxRuntime } from '../../ort/onnxruntime.ts'
import { describeOptions, sessionOptions, wrapSession } from '../../ort/session.ts'
import { ORT_DTYPES } from '../../ort/tensors.ts'
import type { PageSettings } from '../settings.ts'
import { browserName } from './browser-name.ts'
import { type Adapter, findGraphics, findWebGl, type GpuDevice, type Graphics, withWarnings } from './graphics.ts'
import { type KernelMaker, Shaders } from './shaders.ts'

const CAPABILITIES: Capabilities = {
  dtypes: ORT_DTYPES,
  kinds: ['tensor'],
  taps: false,
  decode: false,
  profile: false,
  blobs: true,
}

/** Buffers are reused without being cleared, and the JSEP build reads beyond what it wrote. */
const WEBGPU = { sharedMemory: true, shaders: 'wgsl' } as const

/** Warnings stay with cached results: those of an older way of telling shaders apart are not taken. */
const WARNINGS_VERSION = 2

/** WebGL does not tell what a model takes, and WebNN takes no tensors whose size changes. */
const DECODES = new Set(['wasm', 'webgpu'])

declare const GPUDevice: { readonly prototype: KernelMaker }

/** onnxruntime-web as this page loads it. */
export class PageRuntime implements Runtime<ShippedModel> {
  readonly name = 'onnxruntime-web'
  readonly #settings: PageSettings
  readonly #onLost: (reason: string) => void
  readonly #shaders = new Shaders()
  #ort: OnnxRuntime | null = null
  #graphics: Graphics | null = null
  #adapter: Adapter['detail'] = {}
  #browser = ''

  constructor(settings: PageSettings, onLost: (reason: string) => void) {
    this.#settings = settings
    this.#onLost = onLost
  }

  async probe(device: string): Promise<Probe> {
    const { provider, ortVersion } = this.#settings
    this.#browser = await browserName()
    const problem = await this.#findDevice(provider)
    if (problem !== null) return { available: false, reason: problem }
    try {
      this.#ort = await loadBundle(this.#settings)
    } catch (error) {
      return { available: false, reason: `onnxruntime-web ${ortVersion} could not be loaded: ${wordsOf(error)}` }
    }
    const detail = { ...this.#where(), ...this.#adapter }
    return {
      available: true,
      version: ortVersion,
      accepts: ['onnx'],
      capabilities: { ...CAPABILITIES, decode: DECODES.has(provider), ...(provider === 'webgpu' && WEBGPU) },
      detail,
      fingerprint: this.#isKnown() ? JSON.stringify([WARNINGS_VERSION, this.#settings.machine, device, detail]) : null,
    }
  }

  async open(model: ShippedModel, { target }: OpenOptions): Promise<Session> {
    const ort = this.#ort
    if (!ort) throw new Error('onnxruntime-web was not loaded')
    const { provider, threads } = this.#settings
    const options = { ...sessionOptions(target), executionProviders: [provider], intraOpNumThreads: threads }
    const externalData = Array.from(model.external, ([path, data]) => ({ path, data }))
    const session = await this.#unlessLost(
      createSession(ort, model.bytes, { ...options, ...(externalData.length > 0 && { externalData }) }),
    )
    const wrapped = wrapSession(ort, session, {
      ...describeOptions(options),
      ...this.#where(),
      ...this.#adapter,
    })
    return {
      ...wrapped,
      run: async (inputs, sink) => {
        const work = withWarnings(await this.#device(), this.#shaders, () => wrapped.run(inputs, sink))
        const [ran, warnings] = await this.#unlessLost(work)
        return { ...ran, warnings }
      },
      decode: (request) => this.#watched(wrapped.decode!(request)),
    }
  }

  async *#watched(steps: AsyncGenerator<DecodeStep, void>): AsyncGenerator<DecodeStep, void> {
    try {
      for (;;) {
        const work = withWarnings(await this.#device(), this.#shaders, () => steps.next())
        const [{ value }, warnings] = await this.#unlessLost(work)
        if (!value) return
        yield { ...value, warnings }
      }
    } finally {
      await steps.return()
    }
  }

  /** Why the device is not available here; null: it is. */
  async #findDevice(provider: string): Promise<string | null> {
    if (provider === 'webnn') return whyNoWebNN()
    if (provider === 'webgl') return this.#take(findWebGl())
    if (provider !== 'webgpu') return null
    const found = await findGraphics()
    if (typeof found === 'string') return found
    if (!this.#graphics) this.#shaders.watch(GPUDevice.prototype)
    this.#graphics = found
    void found.lost.then(this.#onLost)
    return this.#take(found)
  }

  #take(found: Adapter | string): string | null {
    if (typeof found === 'string') return found
    this.#adapter = found.detail
    const isRefused = this.#settings.adapter === 'hardware' && found.isSoftware
    return isRefused ? `no hardware was found, only ${found.detail.adapter}` : null
  }

  /** Work that failed because the device was lost is not answered: the page ends instead, with that reason. */
  async #unlessLost<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (this.#graphics && !(await this.#graphics.isAlive())) await new Promise(() => {})
      throw error
    }
  }

  /** onnxruntime's own. */
  async #device(): Promise<GpuDevice | undefined> {
    return this.#graphics ? ((await this.#ort?.env.webgpu?.device) as GpuDevice | undefined) : undefined
  }

  /** All that decides the bits is in what we tell: there is no driver whose version a page cannot see. */
  #isKnown(): boolean {
    const { provider, machine } = this.#settings
    return machine !== null && (provider === 'wasm' || this.#graphics?.isSoftware === true)
  }

  #where(): Record<string, string> {
    const { bundle, ortVersion, threads } = this.#settings
    return {
      library: `onnxruntime-web ${ortVersion}`,
      bundle: bundle.slice(bundle.lastIndexOf('/') + 1),
      browser: this.#browser,
      threads: String(threads),
      isolated: String(crossOriginIsolated),
    }
  }
}

async function loadBundle({ bundle, threads }: PageSettings): Promise<OnnxRuntime> {
  if (threads > 1 && !crossOriginIsolated) throw new Error('threads need a page that is cross-origin isolated')
  // Where Float16Array exists, float16 tensors would take nothing else.
  Reflect.deleteProperty(globalThis, 'Float16Array')
  const ort = (await import(bundle)) as OnnxRuntime
  ort.env.wasm.wasmPaths = new URL('/ort/', location.href).href
  ort.env.wasm.numThreads = threads
  return ort
}

interface MachineLearning {
  createContext(options: { readonly deviceType: 'cpu' }): Promise<unknown>
}

async function whyNoWebNN(): Promise<string | null> {
  const { ml } = navigator as { ml?: MachineLearning }
  if (!ml) return 'this browser has no WebNN'
  return ml.createContext({ deviceType: 'cpu' }).then(() => null, wordsOf)
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
