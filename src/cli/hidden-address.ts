import { accessSync, constants, existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Environment, setVariables } from '../domain/environment.ts'

export interface HiddenAddress {
  /** A file that leads to the address and that only its user can read. */
  readonly href: string
  remove(): Promise<void>
}

/** Writes an address into a file, because everybody can read the command line of a browser that is started on it. */
export async function hideAddress(url: string, env: Environment): Promise<HiddenAddress> {
  const folder = await mkdtemp(join(placeFor(env), 'assay-page-'))
  const path = join(folder, 'open.html')
  await writeFile(path, pageLeadingTo(url), { mode: 0o600 })
  const remove = () => rm(folder, { recursive: true, force: true })
  return { href: pathToFileURL(path).href, remove }
}

function pageLeadingTo(url: string): string {
  const head = `<meta charset="utf-8"><title>Assay</title><meta http-equiv="refresh" content="0;url=${url}">`
  return `<!doctype html>${head}<a href="${url}">Open the page</a>\n`
}

/** A browser in a snap, as on Ubuntu, sees the home folder, but no hidden folders and not the temporary folder. */
const SNAPS = ['/snap/bin', '/var/lib/snapd/snap/bin']

function placeFor(env: Environment): string {
  const { HOME, TMPDIR = tmpdir() } = setVariables(env)
  return HOME !== undefined && SNAPS.some((path) => existsSync(path)) && isWritable(HOME) ? HOME : TMPDIR
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
