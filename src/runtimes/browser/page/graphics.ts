/// <reference lib="dom" />

/** The part of WebGPU's interface that we look at. */
interface GpuDevice {
  pushErrorScope(filter: 'validation'): void
  popErrorScope(): Promise<unknown>
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

export interface Graphics {
  readonly detail: Readonly<Record<string, string>>
  /** It is part of the browser and no hardware with a driver of its own. */
  readonly isSoftware: boolean
  /** Never resolves while the adapter works. */
  readonly lost: Promise<string>
  /** Asks the graphics process, so that work which failed with it is told from work that failed by itself. */
  isAlive(): Promise<boolean>
}

/** The adapter that WebGPU gives here, watched; or why there is none. */
export async function findGraphics(): Promise<Graphics | string> {
  const { gpu } = navigator as { gpu?: Gpu }
  if (!gpu) return `this browser has no WebGPU${isSecureContext ? '' : ' here: the page is no secure context'}`
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

/** When the graphics process dies every device is lost, so one of ours tells about onnxruntime's too. */
function describeLoss({ reason, message }: { readonly reason: string; readonly message: string }): string {
  const words = [reason, message].filter((word) => word && word !== 'unknown').join(', ')
  return `the WebGPU device was lost${words ? `: ${words}` : ''}`
}
