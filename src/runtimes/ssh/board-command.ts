import { once } from 'node:events'
import { text as readText } from 'node:stream/consumers'
import { boardScript, type ScriptSettings } from './board-script.ts'
import { type Connection, startSsh } from './connection.ts'
import { explainSsh } from './explain-ssh.ts'
import { eachReply, type Reply } from './replies.ts'

/** The board, or the way to it, refuses; said in a sentence for people. */
export class BoardError extends Error {
  override readonly name = 'BoardError'
}

/** One command on the board: everything that it says, or why it could not be done. */
export async function askBoard(
  connection: Connection,
  command: string,
  send: (write: (bytes: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<Reply[]> {
  const child = startSsh(connection, command)
  const replies: Reply[] = []
  eachReply(child.stdout, (reply) => replies.push(reply))
  const said = readText(child.stderr)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(cannotStart(error)))
    child.on('close', resolve)
  })
  ended.catch(() => {})
  const write = async (bytes: Uint8Array) => {
    if (!child.stdin.writable || child.stdin.write(bytes)) return
    await Promise.race([once(child.stdin, 'drain'), ended]).catch(() => {})
  }
  await send(write)
  child.stdin.end()
  const exitCode = await ended
  const problem = replies.find(({ word }) => word === 'error')
  if (problem) throw new BoardError(problem.rest)
  if (exitCode !== 0) throw new BoardError(explainSsh(await said, connection))
  return replies
}

/** A function of the board's script, by itself. */
export async function callBoard(connection: Connection, settings: ScriptSettings, call: string): Promise<Reply[]> {
  const script = await boardScript(settings, call)
  return askBoard(connection, 'sh', (write) => write(new TextEncoder().encode(script)))
}

export function cannotStart(error: Error): BoardError {
  const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
  return new BoardError(
    isMissing
      ? 'there is no ssh in PATH; install it (Debian: apt-get install openssh-client)'
      : `ssh: ${error.message}`,
  )
}
