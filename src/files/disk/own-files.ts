import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly engines: { readonly node: string }
}

interface OwnPackage {
  readonly folder: string
  readonly manifest: Manifest
}

let own: OwnPackage | null = null

/** Assay's own package.json. */
export function ownManifest(): Manifest {
  return ownPackage().manifest
}

/** A file or folder that comes with Assay, such as `workers/ssh/board.sh`. */
export function ownFile(path: string): string {
  return join(ownPackage().folder, path)
}

/** A file of the build, such as `files/parallel/work-thread.js`; under a test runner too, since processes and threads start with it. */
export function builtFile(path: string): string {
  return ownFile(join('dist', path))
}

/** The depth of this module's folder depends on the build. */
function ownPackage(): OwnPackage {
  own ??= packageAbove(dirname(fileURLToPath(import.meta.url)))
  return own
}

function packageAbove(folder: string): OwnPackage {
  const manifest = manifestIn(folder)
  if (manifest?.name === 'assay') return { folder, manifest }
  const above = dirname(folder)
  if (above === folder) throw new Error('Assay cannot find its own package.json; install it again')
  return packageAbove(above)
}

function manifestIn(folder: string): Manifest | null {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  } catch {
    return null
  }
}
