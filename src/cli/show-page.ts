import { spawn } from 'node:child_process'
import type { Environment } from '../domain/environment.ts'
import type { DiffServer } from '../server/diff-server.ts'
import { type CommandIo, notice, onInterrupt } from './io.ts'

/** Shows a page in the user's browser and serves it until somebody ends the command. */
export async function showPage(server: DiffServer, io: CommandIo): Promise<void> {
  const interrupted = interruption(io)
  notice(io, `${server.url}\nCtrl-C ends it; the address works once, in the first browser that opens it`)
  openBrowser(server.url, io.env)
  await interrupted
  await server.close()
}

/** `BROWSER=none` opens nothing, `BROWSER=firefox` opens that; a machine without a browser has printed the address. */
function openBrowser(url: string, env: Environment): void {
  const [program, ...args] = openerOf(env)
  if (!program) return
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore', env: { ...env } })
  child.on('error', () => {})
  child.unref()
}

function openerOf({ BROWSER: wanted, DISPLAY, WAYLAND_DISPLAY }: Environment): string[] {
  if (wanted === 'none') return []
  if (wanted) return [wanted]
  if (process.platform === 'darwin') return ['open']
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : []
}

function interruption(io: CommandIo): Promise<void> {
  return new Promise((resolve) => {
    const release = onInterrupt(io, () => {
      release()
      resolve()
    })
  })
}
