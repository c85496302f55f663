import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const NOBODY = 65534

/** Another user can only be played by root. */
export const canBeOther = process.getuid?.() === 0 && process.platform === 'linux'

const ASK = `
const socket = require('node:net').connect(Number(process.argv[1]), '127.0.0.1', () => socket.write(process.argv[2]))
socket.on('data', (part) => process.stdout.write(part))
socket.on('error', (error) => process.stdout.write(error.message))
`

/** What a server on this machine answers to these lines when another user sends them. */
export async function askAsOther(port: number, lines: readonly string[]): Promise<string> {
  const text = [...lines, 'Connection: close', '', ''].join('\r\n')
  const asOther = { uid: NOBODY, gid: NOBODY, cwd: '/' }
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', ASK, String(port), text], asOther)
  return stdout
}
