import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { type Environment, setVariables } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { remember } from '../../domain/remember.ts'
import type { LaunchContext, Need } from '../contract.ts'
import { locatePackage, resolvePackage } from '../install/resolve.ts'
import { findProgram, isExecutable } from '../process/find-program.ts'

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

/** Used instead of a path, this word selects the browser from npm. */
const FROM_NPM = 'npm'
const NPM_PACKAGE = '@sparticuz/chromium'

/** The program that a target names, the system's Chromium or Chrome, or the one that npm has. */
export async function findBrowser(named: string | undefined, context: LaunchContext): Promise<string> {
  if (named === FROM_NPM) return browserFromNpm(context)
  if (named !== undefined) return namedBrowser(`browser=${named}`, named, context)
  const { CHROME_PATH: usual, PATH } = setVariables(context.environment)
  if (usual) return namedBrowser(`CHROME_PATH=${usual}`, usual, context)
  const found = systemBrowser(PATH)
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

/** Where `findBrowser` would find one, or how to get one; nothing is installed. */
export async function locateBrowser(named: string | undefined, context: LaunchContext): Promise<Need> {
  const need = { name: 'Chromium or Chrome', version: null, path: null, onFirstUse: false }
  const { CHROME_PATH, PATH } = setVariables(context.environment)
  const wish = named ?? CHROME_PATH
  if (wish !== undefined && wish !== FROM_NPM) {
    const setting = named === undefined ? 'CHROME_PATH' : 'browser'
    try {
      return { ...need, path: namedBrowser(`${setting}=${wish}`, wish, context), remedy: '' }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      return { ...need, remedy: `${error.message}; name another with browser=<path>` }
    }
  }
  const found = named === FROM_NPM ? null : systemBrowser(PATH)
  if (found) return { ...need, path: found, remedy: '' }
  if (!isForNpmBrowser()) return { ...need, remedy: HOW_TO_GET[process.platform] ?? HOW_TO_GET.linux! }
  return locatePackage(NPM_PACKAGE, null, context)
}

const HOW_TO_GET: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: 'apt-get install chromium (Debian, Ubuntu) or dnf install chromium (Fedora)',
  darwin: 'brew install --cask chromium',
  win32: 'winget install Google.Chrome',
}

/** Every usual name of a browser, and where it is; null: not here. */
export function usualBrowsers(path: string): { readonly name: string; readonly path: string | null }[] {
  const programs = NAMES.map((name) => ({ name, path: findProgram(name, path) }))
  const places = (PLACES[process.platform] ?? []).map((place) => ({
    name: place,
    path: isExecutable(place) ? place : null,
  }))
  return [...programs, ...places]
}

function namedBrowser(setting: string, named: string, { projectFolder, environment }: LaunchContext): string {
  const isPath = /[/\\]/.test(named)
  const found = isPath ? resolve(projectFolder, named) : findProgram(named, environment.PATH ?? '')
  if (found && isExecutable(found)) return found
  throw new UsageError('install', `${setting} is not a program that can be started`)
}

export function systemBrowser(path = ''): string | null {
  for (const name of NAMES) {
    const found = findProgram(name, path)
    if (found) return found
  }
  return PLACES[process.platform]?.find(isExecutable) ?? null
}

function isForNpmBrowser(): boolean {
  return process.platform === 'linux' && process.arch === 'x64'
}

/** A headless Chromium that is packed into an npm package and unpacks itself beside its own files. */
async function browserFromNpm(context: LaunchContext): Promise<string> {
  if (!isForNpmBrowser()) {
    throw new UsageError('install', `${NPM_PACKAGE} is built for Linux on x64`)
  }
  const { folder } = await resolvePackage(NPM_PACKAGE, null, context)
  return remember(unpackings, folder, () =>
    unpack(folder, context.environment).finally(() => unpackings.delete(folder)),
  )
}

const unpackings = new Map<string, Promise<string>>()

const UNPACK = 'console.log(await (await import(process.argv[1])).default.executablePath())'

/** In a process of its own: it unpacks into the temporary folder and takes what lies there, whatever version that is. */
async function unpack(folder: string, environment: Environment): Promise<string> {
  const entry = pathToFileURL(join(folder, 'build/index.js')).href
  const env = { ...environment, TMPDIR: folder }
  try {
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', UNPACK, entry], { env })
    return stdout.trim()
  } catch (cause) {
    const { stderr = '' } = cause as { stderr?: string }
    throw new UsageError('install', `${NPM_PACKAGE} cannot be unpacked: ${stderr.trim() || cause}`, { cause })
  }
}
