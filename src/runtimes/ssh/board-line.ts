import { boardScript, type ScriptSettings } from './board-script.ts'
import { BoardShell } from './board-shell.ts'
import type { Connection } from './connection.ts'
import { explainSsh } from './explain-ssh.ts'
import type { Reply } from './replies.ts'

/** The first connection to a board, over which the lease is taken and kept; while it stands, the board works for us. */
export class BoardLine {
  readonly #shell: BoardShell
  #isReady = false
  #onLost = () => {}
  /** Resolves when the lease is not ours any more. */
  readonly lost = new Promise<void>((resolve) => {
    this.#onLost = resolve
  })

  private constructor(connection: Connection) {
    const describeEnd = (exitCode: number | null, said: string) => this.#describeEnd(connection, exitCode, said)
    this.#shell = new BoardShell(connection, 'sh', 'first', describeEnd, ({ word }) => {
      if (word === 'lost') this.#onLost()
      return word === 'lost'
    })
  }

  /** Resolves with what the board says about itself. */
  static async open(connection: Connection, settings: ScriptSettings): Promise<{ line: BoardLine; facts: string }> {
    const script = await boardScript(settings, 'keep')
    const line = new BoardLine(connection)
    // Nothing more is sent before the board has read all of it: a shell may read ahead.
    const { rest: facts } = await line.#shell.ask(script)
    line.#isReady = true
    return { line, facts }
  }

  /** Rejects when the connection ends, with the reason. */
  get ended(): Promise<never> {
    return this.#shell.ended
  }

  take(): Promise<Reply> {
    return this.#shell.ask('take')
  }

  /** How the runner ended: an exit code, or a word. */
  async runnerEnd(): Promise<string> {
    return (await this.#shell.ask('ended')).rest
  }

  /** A sign of life; the board answers only where the lease is lost. */
  beat(): void {
    this.#shell.say('beat')
  }

  /** Lets the board clean up. */
  close(): Promise<void> {
    return this.#shell.close()
  }

  #describeEnd(connection: Connection, exitCode: number | null, said: string): string {
    const { destination } = connection
    const hasWords = said.trim() !== ''
    if (this.#isReady) {
      return `the connection to ${destination} was lost${exitCode === 255 && hasWords ? ` (${explainSsh(said, connection)})` : ''}`
    }
    if (exitCode === 255 || hasWords) return explainSsh(said, connection)
    return `${destination} ended the connection before it ran anything (exit code ${exitCode})`
  }
}
