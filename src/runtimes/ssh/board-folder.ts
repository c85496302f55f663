import { askBoard, BoardError } from './board-command.ts'
import { quoted } from './board-script.ts'
import { BoardShell } from './board-shell.ts'
import type { Connection } from './connection.ts'
import type { Deployment } from './deployment.ts'
import type { Reply } from './replies.ts'

/** Bytes on their way to the board; they go on as they come and are never held. */
export interface Upload {
  write(bytes: Uint8Array): Promise<void>
  /** Resolves when the board has checked and kept them. */
  finish(): Promise<void>
}

export interface PlacedFile {
  readonly digest: string
  /** In the model's folder. */
  readonly path: string
}

const DIGEST = /^[0-9a-f]{64}$/

/** The folder that a session has on its board, and the files that the board keeps by their content. */
export class BoardFolder {
  readonly #connection: Connection
  readonly #path: string
  readonly #shell: BoardShell
  readonly #known = new Set<string>()
  #lastModel = 0
  #abandoned: number[] = []

  constructor(connection: Connection, path: string) {
    this.#connection = connection
    this.#path = path
    const describeEnd = () => `the connection to ${connection.destination} was lost`
    this.#shell = new BoardShell(connection, this.#command('serve'), 'guest', describeEnd)
  }

  async has(digest: string): Promise<boolean> {
    if (this.#known.has(checked(digest))) return true
    const reply = await this.#call('has', digest)
    if (reply.rest === 'yes') this.#known.add(digest)
    return reply.rest === 'yes'
  }

  upload(digest: string, byteLength: number): Upload {
    let release = () => {}
    const allSent = new Promise<void>((resolve) => {
      release = resolve
    })
    let ready: (write: Upload['write']) => void = () => {}
    const writer = new Promise<Upload['write']>((resolve) => {
      ready = resolve
    })
    const command = this.#command('put', checked(digest), String(byteLength))
    const done = askBoard(this.#connection, command, async (write) => {
      ready(write)
      await allSent
    })
    done.catch(() => {})
    const finish = async () => {
      release()
      await done
      this.#known.add(digest)
    }
    return { write: async (bytes) => (await writer)(bytes), finish }
  }

  async deploy(deployment: Deployment): Promise<void> {
    if (!(await this.has(deployment.digest))) {
      const upload = this.upload(deployment.digest, deployment.byteLength)
      for await (const chunk of deployment.chunks()) await upload.write(chunk)
      await upload.finish()
    }
    if (deployment.kind === 'file') await this.#call('deploy_file', deployment.digest, quoted(deployment.name))
    else await this.#call('deploy_folder', deployment.digest)
  }

  /** Puts the files of a model beside each other; gives its number and the folder's path on the board. */
  async place(files: readonly PlacedFile[]): Promise<{ number: number; folder: string }> {
    const number = ++this.#lastModel
    const pairs = files.flatMap(({ digest, path }) => [checked(digest), quoted(path)])
    const gone = quoted(this.#abandoned.join(' '))
    this.#abandoned = []
    const reply = await this.#call('place', gone, String(number), ...pairs)
    return { number, folder: reply.rest }
  }

  /** The folder of a model that nobody needs any more goes with the next command. */
  abandon(number: number): void {
    this.#abandoned.push(number)
  }

  /** The first connection ends only after all others. */
  close(): Promise<void> {
    return this.#shell.close()
  }

  runnerCommand(): string {
    return `exec sh ${quoted(`${this.#path}/start`)}`
  }

  /** A function of the board's script in the shell that waits there, with quoted words. */
  #call(...words: readonly string[]): Promise<Reply> {
    return this.#shell.ask(words.join(' '))
  }

  #command(...words: readonly string[]): string {
    return ['exec sh', quoted(`${this.#path}/board`), ...words].join(' ')
  }
}

/** Digests become parts of commands. */
function checked(digest: string): string {
  if (DIGEST.test(digest)) return digest
  throw new BoardError(`"${digest.slice(0, 80)}" is no sha256 in hex`)
}
