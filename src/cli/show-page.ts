import { spawn } from 'node:child_process'
import type { DiffServer } from '../server/diff-server.ts'

/** Shows a page in the user's browser and serves it until somebody ends the command. */
export async function showPage(server: DiffServer): Promise<void> {
  process.stderr.write(`${server.url}\nCtrl-C ends it; the address works once, in the first browser that opens it\n`)
  openBrowser(server.url)
  await ended()
  await server.close()
}

/** `BROWSER=none` opens nothing, `BROWSER=firefox` opens that; a machine without a browser has printed the address. */
function openBrowser(url: string): void {
  const [program, ...args] = openerOf(process.env.BROWSER)
  if (!program) return
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
}

function openerOf(wanted: string | undefined): string[] {
  if (wanted === 'none') return []
  if (wanted) return [wanted]
  if (process.platform === 'darwin') return ['open']
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return process.env.DISPLAY || process.env.WAYLAND_DISPLAY ? ['xdg-open'] : []
}

function ended(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve())
  })
}
