import { existsSync, readdirSync } from 'node:fs'
import type { Target } from '../../domain/target.ts'
import { isGpuDevice } from '../browser/bundles.ts'
import { CHROMIUM_SCHEMA } from './schema.ts'

/** A browser that does nothing but run one page. */
const QUIET = [
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-extensions',
  '--disable-hang-monitor',
  '--disable-breakpad',
  '--disable-quic',
  '--disable-sync',
  '--mute-audio',
  '--password-store=basic',
  '--use-mock-keychain',
  // Proxies are for other machines; the page is on this one.
  '--no-proxy-server',
]

const SOFTWARE_WEBGPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan']
const HARDWARE_WEBGPU = ['--enable-unsafe-webgpu', '--ignore-gpu-blocklist', ...vulkanOnLinux()]
const SOFTWARE_WEBGL = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader']
const WEBNN = ['--enable-features=WebMachineLearningNeuralNetwork']

export function browserFlags(target: Target, profileFolder: string): string[] {
  const options = { ...CHROMIUM_SCHEMA.options, ...target.options }
  return [
    ...QUIET,
    `--user-data-dir=${profileFolder}`,
    ...(options.headless === 'true' ? ['--headless'] : []),
    ...(withSandbox(options.sandbox) ? [] : ['--no-sandbox']),
    ...deviceFlags(target.device, isSoftware(options.adapter)),
    ...(options.arg?.split(',') ?? []),
  ]
}

function deviceFlags(device: string, software: boolean): readonly string[] {
  if (isGpuDevice(device)) return software ? SOFTWARE_WEBGPU : HARDWARE_WEBGPU
  if (device === 'webgl') return software ? SOFTWARE_WEBGL : ['--ignore-gpu-blocklist']
  return device === 'webnn' ? WEBNN : ['--disable-gpu']
}

/** Chromium refuses to start its sandbox as root. */
function withSandbox(choice: string | null | undefined): boolean {
  return choice === 'auto' ? process.getuid?.() !== 0 : choice === 'on'
}

function isSoftware(choice: string | null | undefined): boolean {
  return choice === 'auto' ? !hasGraphicsCard() : choice === 'software'
}

function hasGraphicsCard(): boolean {
  if (process.platform !== 'linux') return true
  const rendersTo = existsSync('/dev/dri') && readdirSync('/dev/dri').some((name) => name.startsWith('renderD'))
  return rendersTo || existsSync('/dev/nvidia0') || existsSync('/dev/dxg')
}

function vulkanOnLinux(): readonly string[] {
  return process.platform === 'linux' ? ['--enable-features=Vulkan'] : []
}
