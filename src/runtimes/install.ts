import { spawn } from 'node:child_process'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { UsageError } from '../domain/errors.ts'
import { Tail } from './tail.ts'

const POLL_MS = 200
/** A lock without a number for so long is not being written any more. */
const UNSIGNED_MS = 10_000
const EXACT_VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/

const underWay = new Map<string, Promise<void>>()

/** Installs one package into its own folder; several processes may ask at once, one does it. */
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
  if (!EXACT_VERSION.test(version)) {
    throw new UsageError('target', `"${version}" is not a version of ${name}; write an exact one such as 1.30.0`)
  }
  if (await exists(home)) return
  await mkdir(dirname(home), { recursive: true })
  await withLock(`${home}.lock`, async () => {
    if (await exists(home)) return
    const startedMs = performance.now()
    notice(`installing ${name}@${version}, once for this project …`)
    await installInto(home, `${name}@${version}`)
    notice(`installed ${name}@${version} in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
  })
}

/** Into a folder beside, renamed when it is complete. */
async function installInto(home: string, spec: string): Promise<void> {
  const draft = `${home}.${process.pid}.tmp`
  await rm(draft, { recursive: true, force: true })
  try {
    await mkdir(draft)
    await writeFile(join(draft, 'package.json'), '{ "private": true }\n')
    await npmInstall(draft, spec)
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

async function npmInstall(folder: string, spec: string): Promise<void> {
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder, spec]
  const child = spawn('npm', args, { cwd: folder, env: npmEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] })
  const tail = new Tail()
  tail.drain(child.stdout)
  tail.drain(child.stderr)
  const { exitCode, problem } = await new Promise<{ exitCode: number | null; problem: Error | null }>((resolve) => {
    child.on('error', (error) => resolve({ exitCode: null, problem: error }))
    child.on('close', (code) => resolve({ exitCode: code, problem: null }))
  })
  if (exitCode === 0) return
  const said = problem?.message ?? (tail.text().trim() || `exit code ${exitCode}`)
  throw new UsageError('install', `cannot install ${spec}; npm said: ${said}`)
}

/** Under `npx` and `npm run`, npm's own settings for that command would change what this one does. */
function npmEnvironment(): NodeJS.ProcessEnv {
  const misleading =
    /^npm_config_(global|location|dry_run|workspaces?|package_lock_only|omit|include|prefix|local_prefix)$/i
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => !misleading.test(key)))
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
