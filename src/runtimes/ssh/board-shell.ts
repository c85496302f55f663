import { Tail } from '../process/tail.ts'
import { BoardError, cannotStart } from './board-command.ts'
import { type Connection, type SshProcess, startSsh } from './connection.ts'
import { eachReply, type Reply } from './replies.ts'

/** A shell on a board that reads lines and answers each with one of its own. */
export class BoardShell {
  readonly #child: SshProcess
  readonly #tail = new Tail()
  readonly #waiting: ((reply: Reply) => void)[] = []
  /** Rejects when it ends, with the reason. */
  readonly ended: Promise<never>

  constructor(
    connection: Connection,
    command: string,
    role: 'first' | 'guest',
    describeEnd: (exitCode: number | null, said: string) => string,
    isUnasked: (reply: Reply) => boolean = () => false,
  ) {
    this.#child = startSsh(connection, command, role)
    this.#tail.drain(this.#child.stderr)
    eachReply(this.#child.stdout, (reply) => {
      if (!isUnasked(reply)) this.#waiting.shift()?.(reply)
    })
    this.ended = new Promise((_, reject) => {
      this.#child.on('error', (error) => reject(cannotStart(error)))
      this.#child.on('close', (exitCode) => reject(new BoardError(describeEnd(exitCode, this.#tail.text()))))
    })
    this.ended.catch(() => {})
  }

  say(line: string): void {
    this.#child.stdin.write(`${line}\n`)
  }

  /** Says something and gives the next answer. */
  async ask(line: string): Promise<Reply> {
    const answer = new Promise<Reply>((resolve) => this.#waiting.push(resolve))
    this.say(line)
    const reply = await Promise.race([answer, this.ended])
    if (reply.word === 'error') throw new BoardError(reply.rest)
    return reply
  }

  /** Resolves when the board has done what it does at the end. */
  async close(): Promise<void> {
    this.#child.stdin.end()
    await this.ended.catch(() => {})
  }
}
