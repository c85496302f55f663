import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { LaunchContext, Need } from './contract.ts'
import { installPackage } from './install.ts'
import { exactVersion } from './npm-versions.ts'
import { isExactVersion } from './version-order.ts'

/** The version that is installed where the user's project has none and none was asked for. */
const PINNED: Readonly<Record<string, string>> = {
  'onnxruntime-node': '1.30.0',
  'onnxruntime-web': '1.30.0',
  '@sparticuz/chromium': '153.0.0',
}

export interface ResolvedPackage {
  readonly folder: string
  readonly version: string
}

/** The user's own copy of a package if it fits, otherwise one of ours, installed on first use. */
export async function resolvePackage(
  name: string,
  version: string | null,
  context: LaunchContext,
): Promise<ResolvedPackage> {
  const asked = version === null ? null : await exactVersion(name, version, context)
  const own = await findInProject(name, context.projectFolder)
  if (own && (asked === null || own.version === asked)) return own
  const wanted = asked ?? pinnedVersion(name)
  const home = homeOf(name, wanted, context)
  await installPackage(name, wanted, home, context)
  return { folder: join(home, 'node_modules', name), version: wanted }
}

/** Where `resolvePackage` would find a package, or what it would install; nothing is installed. */
export async function locatePackage(name: string, version: string | null, context: LaunchContext): Promise<Need> {
  if (version !== null && !isExactVersion(version)) return notHere(name, version, null)
  const own = await findInProject(name, context.projectFolder)
  if (own && (version === null || own.version === version)) return here(name, own)
  const wanted = version ?? pinnedVersion(name)
  const folder = join(homeOf(name, wanted, context), 'node_modules', name)
  const installed = await versionIn(folder)
  return installed === null ? notHere(name, wanted, wanted) : here(name, { folder, version: installed })
}

function here(name: string, { folder, version }: ResolvedPackage): Need {
  return { name, version, path: folder, onFirstUse: false, remedy: '' }
}

function notHere(name: string, word: string, version: string | null): Need {
  return { name, version, path: null, onFirstUse: true, remedy: `npm install --save-dev ${name}@${word}` }
}

function pinnedVersion(name: string): string {
  const { [name]: version } = PINNED
  if (version === undefined) throw new Error(`no version of ${name} is pinned; this is a bug in assay`)
  return version
}

function homeOf(name: string, version: string, { runtimesFolder }: LaunchContext): string {
  return join(runtimesFolder, `${name}@${version}`)
}

async function findInProject(name: string, projectFolder: string): Promise<ResolvedPackage | null> {
  const places = createRequire(join(projectFolder, 'package.json')).resolve.paths(name) ?? []
  for (const place of places) {
    const version = await versionIn(join(place, name))
    if (version !== null) return { folder: join(place, name), version }
  }
  return null
}

async function versionIn(folder: string): Promise<string | null> {
  try {
    const manifest: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const version = (manifest as { version?: unknown }).version
    return typeof version === 'string' ? version : null
  } catch {
    // Not there, or not a package: the next place is asked.
    return null
  }
}
