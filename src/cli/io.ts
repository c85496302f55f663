import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../domain/environment.ts'
import { cleanProse, withoutCommands } from '../domain/text.ts'
import { createStyle, type Style } from '../reporters/style.ts'
import type { WarmWorkers } from '../runtimes/host/warm-workers.ts'

type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }
export type InputStream = Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown }

const NAMES = ['SIGINT', 'SIGTERM'] as const

/** Announces interruptions, as `process` does; the listener decides what the first and the next one mean. */
interface SignalSource {
  on(name: (typeof NAMES)[number], listener: () => void): unknown
  off(name: (typeof NAMES)[number], listener: () => void): unknown
}

/** Everything that a command uses of its process. */
export interface CommandIo {
  readonly cwd: string
  readonly env: Environment
  readonly stdin: InputStream
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly signals: SignalSource
  /** Workers that stay for the next command in this process; the caller closes them. */
  readonly workers?: WarmWorkers
}

export type Action = (words: string[], options: Record<string, unknown>, io: CommandIo) => Promise<number>

export function notice({ stderr }: CommandIo, text: string): void {
  stderr.write(`${text}\n`)
}

/** The text may contain user input, such as file names or words of a configuration, so it is cleaned. */
export function complain({ stderr }: CommandIo, text: string): void {
  stderr.write(`assay: ${withoutCommands(cleanProse(text))}\n`)
}

export function chooseStyle(stream: OutputStream, { env }: CommandIo, { color }: { readonly color?: unknown }): Style {
  return createStyle(stream, { env, ...(typeof color === 'boolean' && { color }) })
}

/** Calls back for every interruption until it is released. */
export function onInterrupt({ signals }: CommandIo, listener: () => void): () => void {
  for (const name of NAMES) signals.on(name, listener)
  return () => {
    for (const name of NAMES) signals.off(name, listener)
  }
}
