import { toJson } from '../domain/json.ts'
import { type Reporter, RUN_SCHEMA, type RunEvent } from '../domain/run.ts'

type RunEnd = Extract<RunEvent, { type: 'run-end' }>

/** One document when the run ends: `{ schema, run, results, summary }`. */
export class JsonReporter implements Reporter {
  readonly #write: (chunks: Iterable<string>) => Promise<void>

  constructor(write: (chunks: Iterable<string>) => Promise<void>) {
    this.#write = write
  }

  async onEvent(event: RunEvent): Promise<void> {
    if (event.type === 'run-end') await this.#write(jsonChunks(event))
  }
}

/** A line per result, so that a run of any size is never one string and text tools can work on it. */
function* jsonChunks({ run: { summary, ...run }, results }: RunEnd): Generator<string> {
  yield `{"schema":${inertJson(RUN_SCHEMA)},\n"run":${inertJson(run)},\n"results":[`
  let separator = '\n'
  for (const result of results) {
    yield `${separator}${inertJson(result)}`
    separator = ',\n'
  }
  yield `\n],\n"summary":${inertJson(summary)}}\n`
}

/** The same values, but safe to look at: JSON.stringify leaves 8-bit terminal controls and bidi marks as they are. */
export function inertJson(value: unknown, indent?: number): string {
  return toJson(value, indent)
    .replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, escapeUnits)
    .replace(/##(?=[a-z]*\[)/gi, '#\\u0023')
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
