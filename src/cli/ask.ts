import { createInterface } from 'node:readline/promises'
import { UsageError } from '../domain/errors.ts'
import { cleanProse } from '../domain/text.ts'
import type { CommandIo } from './io.ts'

/** The user pressed Ctrl-C or Ctrl-D. */
export class Declined extends Error {}

export interface Questions {
  /** Asks until the answer can be read; an empty answer means the default. */
  ask<T>(question: string, usual: string, read: (answer: string) => T): Promise<T>
  close(): void
}

export function askOnTerminal({ stdin, stdout }: CommandIo): Questions {
  const lines = createInterface({ input: stdin, output: stdout })
  const gone = new AbortController()
  lines.on('close', () => gone.abort())
  const answerTo = async (text: string) => {
    try {
      return await lines.question(text, { signal: gone.signal })
    } catch (cause) {
      throw new Declined('no answer', { cause })
    }
  }
  return {
    async ask(question, usual, read) {
      for (;;) {
        const answer = (await answerTo(`${question} [${usual}] `)).trim() || usual
        try {
          return read(answer)
        } catch (error) {
          if (!(error instanceof UsageError)) throw error
          stdout.write(`  ${cleanProse(error.message)}\n`)
        }
      }
    },
    close: () => lines.close(),
  }
}
