import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { LaunchContext } from './contract.ts'
import { installPackage } from './install.ts'
import { exactVersion } from './npm-versions.ts'

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
  const wanted = asked ?? PINNED[name]
  if (wanted === undefined) throw new Error(`no version of ${name} is pinned; this is a bug in assay`)
  const home = join(context.runtimesFolder, `${name}@${wanted}`)
  await installPackage(name, wanted, home, context.notice)
  return { folder: join(home, 'node_modules', name), version: wanted }
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
