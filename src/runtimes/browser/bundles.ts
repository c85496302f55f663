import { join } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { readText } from '../../files/disk/regular-file.ts'
import type { ResolvedPackage } from '../install/resolve.ts'
import type { BrowserDevice } from './schema.ts'

/** How to get a device from onnxruntime-web: the bundle and its name for the execution provider. */
interface DeviceSource {
  readonly provider: string
  /** In the order of preference; releases before 1.19 have the last ones. */
  readonly bundles: readonly string[]
  /** Which build of the library a bundle must load to be this device; bundles of one name changed theirs between releases. */
  readonly build: RegExp
}

const WASM_BUILD = /ort-wasm/
const JSEP_BUILD = /\.jsep\./

const DEVICES: Readonly<Record<BrowserDevice, DeviceSource>> = {
  wasm: { provider: 'wasm', bundles: ['ort.wasm.min.mjs', 'esm/ort.wasm.min.js'], build: WASM_BUILD },
  webgpu: { provider: 'webgpu', bundles: ['ort.webgpu.min.mjs'], build: /\.(?:asyncify|jspi)\./ },
  'webgpu-jsep': {
    provider: 'webgpu',
    bundles: ['ort.min.mjs', 'ort.all.min.mjs', 'ort.webgpu.min.mjs', 'esm/ort.webgpu.min.js'],
    build: JSEP_BUILD,
  },
  webgl: { provider: 'webgl', bundles: ['ort.webgl.min.mjs', 'esm/ort.webgl.min.js'], build: /webgl/ },
  webnn: { provider: 'webnn', bundles: ['ort.all.min.mjs'], build: JSEP_BUILD },
}

export function isGpuDevice(device: string): boolean {
  return DEVICES[device as BrowserDevice]?.provider === 'webgpu'
}

export interface Bundle {
  /** Path below the package's `dist`. */
  readonly file: string
  readonly provider: string
}

/** The bundle that gives a device, as this release of onnxruntime-web has it. */
export async function chooseBundle(device: string, found: ResolvedPackage): Promise<Bundle> {
  const { provider, bundles, build } = DEVICES[device as BrowserDevice]
  for (const file of bundles) {
    const text = await readText(join(found.folder, 'dist', file)).catch(() => null)
    if (text !== null && build.test(text)) return { file, provider }
  }
  const instead = device === 'webgpu' ? '; its WebGPU device is webgpu-jsep' : ''
  throw new UsageError('install', `onnxruntime-web ${found.version} has no bundle for ${device}${instead}`)
}
