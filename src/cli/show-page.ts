import { spawn } from 'node:child_process'
import type { Environment } from '../domain/environment.ts'
import type { DiffServer } from '../server/diff-server.ts'
import { hideAddress } from './hidden-address.ts'
import { type CommandIo, notice, onInterrupt } from './io.ts'

/** Shows a page in the user's browser and serves it until somebody ends the command. */
export async function showPage(server: DiffServer, io: CommandIo): Promise<void> {
  const interrupted = interruption(io)
  notice(io, `${server.url}\nCtrl-C stops the page; the address works once, in the first browser that opens it`)
  const [program, ...args] = openerOf(io.env)
  const hidden = program === undefined ? null : await hideAddress(server.url, io.env)
  if (program !== undefined && hidden) openBrowser([program, ...args, hidden.href], io.env)
  await interrupted
  await hidden?.remove()
  await server.close()
}

function openBrowser([program = '', ...args]: readonly string[], env: Environment): void {
  const child = spawn(program, args, { detached: true, stdio: 'ignore', env: { ...env } })
  child.on('error', () => {})
  child.unref()
}

/** Helper of a remote VS Code. It opens files on the user's own machine, which lacks this one; clicking the printed address works there. */
const REMOTE_HELPER = /[/\\]helpers[/\\]browser\.sh$/

/** `BROWSER=none` opens nothing, `BROWSER=firefox` opens Firefox. Without a browser, the printed address has to do. */
function openerOf({ BROWSER: wanted, DISPLAY, WAYLAND_DISPLAY }: Environment): string[] {
  if (wanted === 'none' || (wanted && REMOTE_HELPER.test(wanted))) return []
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
