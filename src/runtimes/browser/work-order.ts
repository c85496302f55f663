import type { Target } from '../../domain/target.ts'
import type { LaunchContext } from '../contract.ts'
import { resolvePackage } from '../install/resolve.ts'
import { chooseBundle } from './bundles.ts'
import type { PageSettings } from './settings.ts'

/** What a worker process with a page is told when it starts. */
export interface PageOrder {
  readonly settings: PageSettings
  readonly ortFolder: string
}

/** Finds onnxruntime-web in the version asked for, and in it the bundle for the target's device. */
export async function pageOrder(target: Target, context: LaunchContext, machine: string | null): Promise<PageOrder> {
  const found = await resolvePackage('onnxruntime-web', target.options.ort ?? null, context)
  const { file, provider } = await chooseBundle(target.device, found)
  const settings = {
    bundle: `/ort/${file}`,
    provider,
    ortVersion: found.version,
    threads: Number(target.options.threads ?? '1'),
    adapter: target.options.adapter ?? 'auto',
    machine,
  }
  return { settings, ortFolder: found.folder }
}
