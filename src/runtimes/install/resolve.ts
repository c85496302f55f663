import { createRequire } from 'node:module'
import { join } from 'node:path'
import { readText } from '../../files/disk/regular-file.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import type { LaunchContext, Need } from '../contract.ts'
import { sayOnce } from '../process/say-once.ts'
import { installPackage } from './install.ts'
import { exactVersion } from './npm-versions.ts'
import { findOwnFolder, makeOwnFolder } from './own-folder.ts'
import { whoElseCanWrite } from './trusted-path.ts'
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
  const own = await findInProject(name, context)
  if (own && (asked === null || own.version === asked)) return own
  const wanted = asked ?? pinnedVersion(name)
  const home = homeOf(name, wanted, await runtimesHome(context))
  await installPackage(name, wanted, home, context)
  return { folder: join(home, 'node_modules', name), version: wanted }
}

/** Where `resolvePackage` would find a package, or what it would install; nothing is installed. */
export async function locatePackage(name: string, version: string | null, context: LaunchContext): Promise<Need> {
  if (version !== null && !isExactVersion(version)) return notHere(name, version, null)
  const own = await findInProject(name, context)
  if (own && (version === null || own.version === version)) return here(name, own)
  const wanted = version ?? pinnedVersion(name)
  const ours = findOwnFolder(context.runtimesFolder, context.environment)
  const folder = join(homeOf(name, wanted, ours ?? ''), 'node_modules', name)
  const installed = ours === null ? null : await versionIn(folder)
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

function homeOf(name: string, version: string, runtimesFolder: string): string {
  return join(runtimesFolder, `${name}@${version}`)
}

/** A runtimes folder made by somebody else is not used. */
async function runtimesHome({ runtimesFolder, projectFolder, environment, notice }: LaunchContext): Promise<string> {
  const home = await makeOwnFolder(runtimesFolder, environment)
  if (home !== runtimesFolder) {
    const [foreign, ours] = [runtimesFolder, home].map((folder) => shownPath(folder, projectFolder))
    sayOnce(notice, `${foreign} was not made by you on this machine, so nothing in it is run; using ${ours} instead`)
  }
  return home
}

/** Of the folder that is worked in anything is taken, as its package.json is; of those above, what others cannot change. */
async function findInProject(name: string, context: LaunchContext): Promise<ResolvedPackage | null> {
  const { projectFolder, usesProject = true, notice } = context
  if (!usesProject) return null
  const places = createRequire(join(projectFolder, 'package.json')).resolve.paths(name) ?? []
  for (const place of places) {
    const folder = join(place, name)
    const version = await versionIn(folder)
    if (version === null) continue
    const isOwn = place === join(projectFolder, 'node_modules')
    const open = isOwn ? null : whoElseCanWrite(folder, projectFolder)
    if (open === null) return { folder, version }
    sayOnce(notice, `${folder} is not used, because somebody else can write ${open} or owns it`)
  }
  return null
}

async function versionIn(folder: string): Promise<string | null> {
  try {
    const manifest: unknown = JSON.parse(await readText(join(folder, 'package.json')))
    const version = (manifest as { version?: unknown }).version
    return typeof version === 'string' ? version : null
  } catch {
    // Not there, or not a package: the next place is asked.
    return null
  }
}
