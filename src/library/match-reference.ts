import { fileURLToPath } from 'node:url'
import { UsageError } from '../domain/errors.ts'
import type { Result } from '../domain/result.ts'
import { cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { shownPath } from '../files/disk/shown-path.ts'
import { caseBlock } from '../reporters/case-block.ts'
import { countsText } from '../reporters/explain.ts'
import { partLines } from '../reporters/parts.ts'
import { createStyle, type Style } from '../reporters/style.ts'
import type { RunOutcome } from '../runs/execute/execute.ts'
import { isFailure } from '../runs/record/summary.ts'
import { type TestOnnxOptions, testOnnx } from './test-onnx.ts'

/** What vitest and jest want of a matcher. */
interface Match {
  readonly pass: boolean
  readonly message: () => string
}

/** For `expect.extend`: the model, a path or a file URL, gives on the target what the reference gives. */
export async function toMatchReference(
  this: { readonly isNot?: boolean } | undefined,
  model: unknown,
  options: TestOnnxOptions = {},
): Promise<Match> {
  const path = modelPath(model)
  const outcome = await testOnnx(path, options)
  const wanted = !this?.isNot
  return { pass: isAsWanted(outcome, wanted) === wanted, message: () => messageOf(path, outcome, wanted) }
}

function modelPath(model: unknown): string {
  if (typeof model === 'string') return model
  if (model instanceof URL) return fileURLToPath(model)
  throw new UsageError('model', `toMatchReference takes the path of a model, found ${typeof model}`)
}

/** A model that could not be judged neither matches nor differs. */
function isAsWanted({ exitCode, results }: RunOutcome, wanted: boolean): boolean {
  return wanted ? exitCode === EXIT.ok : results.some(({ verdict }) => verdict === 'fail')
}

const BLOCKS_SHOWN = 3
const MESSAGE_COLUMNS = 100

function messageOf(path: string, outcome: RunOutcome, wanted: boolean): string {
  const { results, header } = outcome
  const folder = shownPath(outcome.folder, process.cwd())
  const counts = header.summary ? countsText(header.summary.counts) : 'the run did not end'
  const head = `${cleanText(path)} ${wanted ? 'does not match' : 'does not differ from'} the reference: ${counts}`
  const style = plainStyle()
  const notable = results.filter(({ verdict }) => isFailure(verdict, true))
  const blocks = notable.slice(0, BLOCKS_SHOWN).flatMap((result) => ['', ...block(result, folder, style)])
  const more = notable.length - BLOCKS_SHOWN
  return [
    head,
    ...blocks,
    ...(more > 0 ? ['', `and ${more} more`] : []),
    ...sectionOf(partLines(results, style)),
    '',
    `record: ${cleanText(folder)}`,
  ].join('\n')
}

function block(result: Result, folder: string, style: Style): string[] {
  return caseBlock(result, { style, folder, verbose: false, durationMs: undefined })
}

function sectionOf(lines: readonly string[]): string[] {
  return lines.length > 0 ? ['', ...lines] : []
}

function plainStyle(): Style {
  const stream = { write: () => true, columns: MESSAGE_COLUMNS }
  return createStyle(stream, { env: process.env, color: false })
}
