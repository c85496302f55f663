import { mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { remember } from '../../domain/remember.ts'
import { makeFolderAtomic } from '../../files/disk/atomic-folder.ts'
import type { LaunchContext } from '../contract.ts'
import { withLock } from './install-lock.ts'
import { runNpm } from './npm.ts'
import { noSuchVersion } from './npm-versions.ts'

type InstallContext = Pick<LaunchContext, 'environment' | 'notice'>

const underWay = new Map<string, Promise<void>>()

/** Installs an exact version of a package into its own folder; several processes may ask at once, one does it. */
export function installPackage(name: string, version: string, home: string, context: InstallContext): Promise<void> {
  return remember(underWay, home, () => install(name, version, home, context).finally(() => underWay.delete(home)))
}

async function install(name: string, version: string, home: string, context: InstallContext): Promise<void> {
  const { environment, notice } = context
  if (await exists(home)) return
  await mkdir(dirname(home), { recursive: true })
  await withLock(`${home}.lock`, async () => {
    if (await exists(home)) return
    const startedMs = performance.now()
    notice(`installing ${name}@${version}, once for this project …`)
    await makeFolderAtomic(home, (draft) => installInto(draft, name, version, environment))
    notice(`installed ${name}@${version} in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
  })
}

async function installInto(folder: string, name: string, version: string, environment: Environment): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n')
  const spec = `${name}@${version}`
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', spec]
  const { succeeded, complaint } = await runNpm(args, folder, environment)
  if (succeeded) return
  const unknown = /\bcode ETARGET\b/.test(complaint) ? await noSuchVersion(name, version, folder, environment) : null
  throw unknown ?? new UsageError('install', `cannot install ${spec}; npm said: ${complaint}`)
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
