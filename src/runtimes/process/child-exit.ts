import type { ChildProcess } from 'node:child_process'

export interface ChildExit {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** The program could not be started at all. */
  readonly problem: Error | null
}

/** Children that hold the pipes open must not keep us waiting for ever. */
const LAST_WORDS_MS = 500

/** Resolves when a child has ended and everything that it printed was read; `onExit` comes between the two. */
export function childExit(child: ChildProcess, onExit?: () => void): Promise<ChildExit> {
  return new Promise((resolve) => {
    child.on('error', (problem) => {
      // One that runs has an error too where it is told to end; then its exit follows.
      if (child.pid === undefined) resolve({ exitCode: null, signal: null, problem })
    })
    child.on('exit', (exitCode, signal) => {
      const settle = () => resolve({ exitCode, signal, problem: null })
      child.on('close', settle)
      setTimeout(() => {
        closePipes(child)
        settle()
      }, LAST_WORDS_MS).unref()
      onExit?.()
    })
  })
}

/** Such as `was killed by SIGSEGV`. */
export function describeEnd({ exitCode, signal }: Pick<ChildExit, 'exitCode' | 'signal'>): string {
  return signal ? `was killed by ${signal}` : `ended with exit code ${exitCode}`
}

export function closePipes(child: ChildProcess): void {
  for (const stream of child.stdio) stream?.destroy()
}
