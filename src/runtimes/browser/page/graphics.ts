/// <reference lib="dom" />
import type { Shaders } from './shaders.ts'

type ErrorFilter = 'validation' | 'out-of-memory' | 'internal'

/** The part of WebGPU's interface that we look at. */
export interface GpuDevice {
  pushErrorScope(filter: ErrorFilter): void
  popErrorScope(): Promise<{ readonly message: string } | null>
  readonly lost: Promise<{ readonly reason: string; readonly message: string }>
}

interface GpuAdapterInfo {
  readonly vendor: string
  readonly architecture: string
  readonly device: string
  readonly description: string
  readonly isFallbackAdapter?: boolean
}

interface GpuAdapter {
  readonly info?: GpuAdapterInfo
  readonly features: ReadonlySet<string>
  readonly isFallbackAdapter?: boolean
  requestDevice(): Promise<GpuDevice>
}

interface Gpu {
  requestAdapter(): Promise<GpuAdapter | null>
}

export interface Adapter {
  readonly detail: Readonly<Record<string, string>>
  /** It is part of the browser, not hardware with its own driver. */
  readonly isSoftware: boolean
}

export interface Graphics extends Adapter {
  /** Never resolves while the adapter works. */
  readonly lost: Promise<string>
  /** Asks the graphics process, so that work which failed with it is told from work that failed by itself. */
  isAlive(): Promise<boolean>
}

/** The adapter that WebGPU gives here, watched; or why there is none. */
export async function findGraphics(): Promise<Graphics | string> {
  const { gpu } = navigator as { gpu?: Gpu }
  if (!gpu) return `this browser has no WebGPU${isSecureContext ? '' : ' here: the page is not a secure context'}`
  const adapter = await gpu.requestAdapter()
  if (!adapter) return 'WebGPU found no adapter'
  const { info } = adapter
  const isSoftware = info?.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false
  const words = [info?.vendor, info?.architecture, info?.device, info?.description].filter(Boolean)
  const device = await adapter.requestDevice()
  return {
    detail: {
      adapter: `${words.join(' ') || 'unnamed'}${isSoftware ? ' (software)' : ''}`,
      features: [...adapter.features].sort().join(', '),
    },
    isSoftware,
    lost: device.lost.then(describeLoss),
    async isAlive() {
      device.pushErrorScope('validation')
      const answered = device.popErrorScope().then(
        () => true,
        () => false,
      )
      return Promise.race([answered, device.lost.then(() => false)])
    },
  }
}

/** The WebGL renderer here, or why there is none. */
export function findWebGl(): Adapter | string {
  const gl = new OffscreenCanvas(1, 1).getContext('webgl2')
  if (!gl) return 'this browser has no WebGL 2 here'
  const names = gl.getExtension('WEBGL_debug_renderer_info')
  const adapter = String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER))
  return { detail: { adapter }, isSoftware: /swiftshader|llvmpipe|software/i.test(adapter) }
}

/** When the graphics process dies every device is lost, so one of ours tells about onnxruntime's too. */
function describeLoss({ reason, message }: { readonly reason: string; readonly message: string }): string {
  const words = [reason, message].filter((word) => word && word !== 'unknown').join(', ')
  return `the WebGPU device was lost${words ? `: ${words}` : ''}`
}

const FILTERS: readonly ErrorFilter[] = ['validation', 'out-of-memory', 'internal']

/** Does some work and says what the device refused meanwhile: onnxruntime-web goes on after that, with memory that nobody wrote. */
export async function withWarnings<T>(
  device: GpuDevice | undefined,
  shaders: Shaders,
  work: () => Promise<T>,
): Promise<[T, string[]]> {
  if (!device) return [await work(), []]
  for (const filter of FILTERS) device.pushErrorScope(filter)
  try {
    const done = await work()
    return [done, await collect(device, shaders)]
  } catch (error) {
    await collect(device, shaders)
    throw error
  }
}

async function collect(device: GpuDevice, shaders: Shaders): Promise<string[]> {
  const errors = await Promise.all(FILTERS.map(() => device.popErrorScope().catch(() => null)))
  const messages = errors.flatMap((error) => (error ? [error.message.replace(/\s+/g, ' ').trim()] : []))
  return Promise.all(messages.map((message) => shaders.explain(message)))
}
