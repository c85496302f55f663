import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Environment, setVariables } from '../../../domain/environment.ts'
import { UsageError } from '../../../domain/errors.ts'
import { readText } from '../../../files/disk/regular-file.ts'

/** Where models of an id come from. */
export interface HubSettings {
  /** Without a slash at its end. */
  readonly endpoint: string
  /** Folder of the Hugging Face cache that holds `models--…` folders. */
  readonly cacheFolder: string
  /** What forbids asking the hub; null: nothing does. */
  readonly offlineBecause: string | null
  readonly token: string | null
}

interface Asked {
  readonly offline?: boolean
  readonly token?: string
}

/** As the documented variables of Hugging Face say, with what was asked for over them. */
export async function hubSettings(variables: Environment, asked: Asked = {}): Promise<HubSettings> {
  const environment = setVariables(variables)
  const home = homeOf(environment)
  return {
    endpoint: endpointOf(environment.HF_ENDPOINT),
    cacheFolder: expand(
      environment.HF_HUB_CACHE ?? environment.HUGGINGFACE_HUB_CACHE ?? join(home, 'hub'),
      environment,
    ),
    offlineBecause: asked.offline ? '--offline' : offlineVariable(environment),
    token: await tokenOf(environment, home, asked.token),
  }
}

function homeOf(environment: Environment): string {
  const cache = environment.XDG_CACHE_HOME ?? join(userHome(environment), '.cache')
  return expand(environment.HF_HOME ?? join(cache, 'huggingface'), environment)
}

function userHome(environment: Environment): string {
  return environment.HOME ?? homedir()
}

function expand(path: string, environment: Environment): string {
  return path === '~' || path.startsWith('~/') ? join(userHome(environment), path.slice(1)) : path
}

function offlineVariable(environment: Environment): string | null {
  const names = ['HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE']
  return names.find((name) => /^(1|on|yes|true)$/i.test(environment[name] ?? '')) ?? null
}

function endpointOf(text = 'https://huggingface.co'): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '') {
    throw new UsageError('endpoint', 'HF_ENDPOINT is not a web address; give one such as https://huggingface.co')
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

/** The given token, the variable's, or the one saved by a login. */
async function tokenOf(environment: Environment, home: string, given: string | undefined): Promise<string | null> {
  const said = given ?? environment.HF_TOKEN ?? environment.HUGGING_FACE_HUB_TOKEN
  const place = expand(environment.HF_TOKEN_PATH ?? join(home, 'token'), environment)
  const token = (said ?? (await readText(place).catch(() => ''))).trim()
  // Otherwise the error from building the header would quote it.
  if (/[^\x21-\x7e]/.test(token))
    throw new UsageError('token', 'HF_TOKEN contains spaces or other characters that a token cannot have')
  return token === '' ? null : token
}
