import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter } from '../../src/domain/run.ts'
import { createReporters } from '../../src/reporters/registry.ts'
import {
  HOSTILE,
  hostileResults,
  KeptStream,
  replayEvents,
  sampleContext,
} from '../../src/reporters/testing/sample-run.ts'
import type { Row } from './corpus.ts'

/** What may not be there: what ends a line, moves the cursor, or is a command of a CI system. */
const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  terminal: /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|^\s*::\w|##vso\[/m,
  github: /[\0-\x08\x0b-\x1f\x7f-\x9f]|^(?!::(error|warning) title=)./m,
  'junit:out':
    /[\0-\x08\x0b\x0c\x0e-\x1f]|<(?!\/?(testsuites?|testcase|failure|error|skipped|system-out|system-err|properties|property)\b|\?xml)/,
  'json:out': /[\0-\x09\x0b-\x1f\x7f-\x9f]|^\s*::\w|##vso\[/m,
}

/** Reports a failing, an erring and a skipped case with this text in every place, and looks for what may not be there. */
async function reported(spec: string, text: string, folder: string): Promise<string> {
  const stdout = new KeptStream()
  const context = sampleContext(stdout, { cwd: folder, verbose: true })
  const reporters: Reporter[] = await createReporters([spec], context)
  for (const event of replayEvents(hostileResults(text)))
    for (const reporter of reporters) await reporter.onEvent(event)
  const printed = spec.endsWith(':out') ? readFileSync(join(folder, 'out'), 'utf8') : stdout.text
  const found = FORBIDDEN[spec]!.exec(printed)
  return found
    ? `found ${JSON.stringify(printed.slice(found.index - 40, found.index + 40))}`
    : `inert, ${printed.length > 500 ? 'long' : printed}`
}

const MORE = [
  '\u001b]8;;http://evil.test\u001b\\click\u001b]8;;\u001b\\',
  '\u001bP$q\u001b\\\u001b[6n',
  'a\u2028::error::b\u2029c',
  '%0A::error::x',
  ']]>]]&gt;<!ENTITY x SYSTEM "file:///etc/passwd">&x;',
  '$(id) `id` $HOME',
  '\ufeff\u00ad\u200b\u2060hidden',
  '\r\r\rprogress',
]

export const rows: readonly Row[] = Object.keys(FORBIDDEN).flatMap((spec) =>
  [...HOSTILE, ...MORE].map(
    (text, number): Row => ({
      name: `${spec.split(':')[0]}, text ${number + 1}`,
      read: (folder) => reported(spec, text, folder),
      exit: 'accepted',
      says: /^inert/,
    }),
  ),
)
