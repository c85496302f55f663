import { execFile } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { UsageError } from '../../domain/errors.ts'
import type { LaunchContext } from '../contract.ts'
import { resolvePackage } from '../resolve.ts'

const run = promisify(execFile)

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome', 'microsoft-edge']

const PLACES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA].flatMap((base) =>
    base ? [join(base, 'Google/Chrome/Application/chrome.exe'), join(base, 'Chromium/Application/chrome.exe')] : [],
  ),
}

/** This word instead of a path asks for the browser from npm. */
const FROM_NPM = 'npm'
const NPM_PACKAGE = '@sparticuz/chromium'

/** The program that a target names, the system's Chromium or Chrome, or the one that npm has. */
export async function findBrowser(named: string | undefined, context: LaunchContext): Promise<string> {
  if (named === FROM_NPM) return browserFromNpm(context)
  if (named !== undefined) return namedBrowser(`browser=${named}`, named, context.projectFolder)
  const { CHROME_PATH: usual } = process.env
  if (usual) return namedBrowser(`CHROME_PATH=${usual}`, usual, context.projectFolder)
  const found = systemBrowser(process.env.PATH ?? '')
  if (found) return found
  try {
    return await browserFromNpm(context)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UsageError(
      'install',
      `no Chromium or Chrome is installed here, and the one from npm cannot be used (${why}); install one (Debian: apt-get install chromium) or name one with browser=<path>`,
    )
  }
}

function namedBrowser(setting: string, named: string, projectFolder: string): string {
  const isPath = /[/\\]/.test(named)
  const found = isPath ? resolve(projectFolder, named) : inPath(named, process.env.PATH ?? '')
  if (found && isExecutable(found)) return found
  throw new UsageError('install', `${setting} is no program that can be started`)
}

export function systemBrowser(path: string): string | null {
  for (const name of NAMES) {
    const found = inPath(name, path)
    if (found) return found
  }
  return PLACES[process.platform]?.find(isExecutable) ?? null
}

function inPath(name: string, path: string): string | null {
  const places = path.split(delimiter).filter(Boolean)
  return places.map((place) => join(place, name)).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** A headless Chromium that is packed into an npm package and unpacks itself beside its own files. */
async function browserFromNpm(context: LaunchContext): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new UsageError('install', `${NPM_PACKAGE} is built for Linux on x64`)
  }
  const { folder } = await resolvePackage(NPM_PACKAGE, null, context)
  const unpacking = unpackings.get(folder) ?? unpack(folder).finally(() => unpackings.delete(folder))
  unpackings.set(folder, unpacking)
  return unpacking
}

const unpackings = new Map<string, Promise<string>>()

const UNPACK = 'console.log(await (await import(process.argv[1])).default.executablePath())'

/** In a process of its own: it unpacks into the temporary folder and takes what lies there, whatever version that is. */
async function unpack(folder: string): Promise<string> {
  const entry = pathToFileURL(join(folder, 'build/index.js')).href
  const env = { ...process.env, TMPDIR: folder }
  try {
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', UNPACK, entry], { env })
    return stdout.trim()
  } catch (cause) {
    const { stderr = '' } = cause as { stderr?: string }
    throw new UsageError('install', `${NPM_PACKAGE} cannot be unpacked: ${stderr.trim() || cause}`, { cause })
  }
}
