import { UsageError } from '../../domain/errors.ts'
import { unknown } from '../../domain/suggest.ts'
import { EXIT } from '../../domain/verdict.ts'
import { type CommandWords, complete } from '../../library/completion/complete.ts'
import { SCRIPTS, SHELLS } from '../../library/completion/scripts.ts'
import type { Action } from '../io.ts'

export const completion: Action = async ([word], _options, { stdout }) => {
  if (word === undefined) throw new UsageError('shell', `no shell given; use one of ${SHELLS.join(', ')}`)
  const shell = SHELLS.find((known) => known === word)
  if (!shell) throw unknown('shell', `shell "${word}"`, word, SHELLS)
  stdout.write(SCRIPTS[shell])
  return EXIT.ok
}

const LONGEST_HELP = 60

/** Answers the completion scripts. */
export const answerShell =
  (commands: readonly CommandWords[]): Action =>
  async (words, _options, { cwd, stdout }) => {
    const { candidates, paths = 'words' } = await complete(commands, words, cwd)
    const lines = candidates.map(({ text, help = '' }) => `${text}\t${help.slice(0, LONGEST_HELP)}\n`)
    stdout.write(`${lines.join('')}:${paths}\n`)
    return EXIT.ok
  }
