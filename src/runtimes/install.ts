import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { UsageError } from '../domain/errors.ts'
import { runNpm } from './npm.ts'
import { noSuchVersion } from './npm-versions.ts'

const POLL_MS = 200
/** A lock without a number for so long is not being written any more. */
const UNSIGNED_MS = 10_000

const underWay = new Map<string, Promise<void>>()

/** Installs an exact version of a package into its own folder; several processes may ask at once, one does it. */
export function installPackage(
  name: string,
  version: string,
  home: string,
  notice: (text: string) => void,
): Promise<void> {
  const installing = underWay.get(home) ?? install(name, version, home, notice).finally(() => underWay.delete(home))
  underWay.set(home, installing)
  return installing
}

async function install(name: string, version: string, home: string, notice: (text: string) => void): Promise<void> {
  if (await exists(home)) return
  await mkdir(dirname(home), { recursive: true })
  await withLock(`${home}.lock`, async () => {
    if (await exists(home)) return
    const startedMs = performance.now()
    notice(`installing ${name}@${version}, once for this project …`)
    await installInto(home, name, version)
    notice(`installed ${name}@${version} in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
  })
}

/** Into a folder beside, renamed when it is complete. */
async function installInto(home: string, name: string, version: string): Promise<void> {
  const draft = `${home}.${process.pid}.tmp`
  await rm(draft, { recursive: true, force: true })
  try {
    await mkdir(draft)
    await writeFile(join(draft, 'package.json'), '{ "private": true }\n')
    await npmInstall(draft, name, version)
    await renameUnlessThere(draft, home)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Whoever was faster installed the same. */
async function renameUnlessThere(draft: string, home: string): Promise<void> {
  try {
    await rename(draft, home)
  } catch (error) {
    if (!(await exists(home))) throw error
  }
}

async function npmInstall(folder: string, name: string, version: string): Promise<void> {
  const spec = `${name}@${version}`
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', spec]
  const { succeeded, complaint } = await runNpm(args, folder)
  if (succeeded) return
  const unknown = /\bcode ETARGET\b/.test(complaint) ? await noSuchVersion(name, version, folder) : null
  throw unknown ?? new UsageError('install', `cannot install ${spec}; npm said: ${complaint}`)
}

async function withLock(path: string, work: () => Promise<void>): Promise<void> {
  while (!(await takeLock(path))) await delay(POLL_MS)
  try {
    await work()
  } finally {
    await rm(path, { force: true })
  }
}

async function takeLock(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (await isStale(path)) await rm(path, { force: true })
    return false
  }
}

/** Its owner has ended, perhaps before it wrote its number. */
async function isStale(path: string): Promise<boolean> {
  const pid = Number(await readFile(path, 'utf8').catch(() => ''))
  if (!(pid > 0)) return (await ageMs(path)) > UNSIGNED_MS
  // This process asks for each folder once, so an earlier one had the same number.
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

async function ageMs(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  )
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
