import type { DocumentedFile } from '../snapshot/documented-files.ts'
import { DOCUMENTED_TOLERANCE, differingPositions } from '../snapshot/documented-files.ts'
import type { OutputFigures, OutputSnapshot } from '../snapshot/schema.ts'
import { compareOutput, compareSignatures, type OutputChange, type SignatureChange } from './compare-output.ts'
import { explainChange } from './explain-change.ts'
import { documentedValues } from './signature.ts'

/** A run compared with what was captured before. */
export interface RunComparison {
  /** Of the outputs that are in both. */
  readonly changes: readonly OutputChange[]
  readonly signature: SignatureChange | null
  /** In one sentence; null: nothing. */
  readonly changed: string | null
}

export function compareRun(before: OutputSnapshot, now: OutputSnapshot): RunComparison {
  if (before.padding !== now.padding) return { changes: [], signature: null, changed: explainKind(before, now) }
  const { tolerance } = before
  const pairs = before.outputs.flatMap((expected) => {
    const found = now.outputs.find(({ name }) => name === expected.name)
    return found ? [[expected, found] as const] : []
  })
  const changes = pairs.map(([expected, found]) => compareOutput(expected, found, tolerance))
  const signature = compareSignatures(before.signature, now.signature, before.outputs, tolerance, before.padding)
  const lone = { gone: missingIn(before.outputs, now.outputs), fresh: missingIn(now.outputs, before.outputs) }
  const isOver = changes.some((change) => change.isOver) || (signature?.positions.length ?? 0) > 0
  const isOther = isOver || lone.gone.length > 0 || lone.fresh.length > 0
  return { changes, signature, changed: isOther ? explainChange(changes, signature, lone, tolerance) : null }
}

/** Their positions are given and padding is left out for one kind alone, so figures of both kinds have nothing in common. */
function explainKind(before: OutputSnapshot, now: OutputSnapshot): string {
  const [was, is] = [before, now].map(({ padding }) =>
    padding > 0 ? 'a model that writes text' : 'a model with several outputs',
  )
  return `it was captured as ${was} and is judged as ${is} now; list it as what it is, or capture it anew`
}

function missingIn(outputs: readonly OutputFigures[], others: readonly OutputFigures[]): string[] {
  return outputs.map(({ name }) => name).filter((name) => !others.some((other) => other.name === name))
}

/** What differs from a signature that another tool captured, in one sentence; null: nothing. */
export function explainDocumented(
  { path, content }: DocumentedFile<readonly number[]>,
  now: Pick<OutputSnapshot, 'signature'>,
): string | null {
  if (!now.signature) return `${path} has a signature, and these outputs are too large for one`
  const values = documentedValues(now.signature)
  if (content.length !== values.length) {
    return `the documented signature has ${content.length} numbers, these outputs give ${values.length} (${path})`
  }
  const [first, ...others] = differingPositions(content, values)
  if (first === undefined) return null
  const { atol, rtol } = DOCUMENTED_TOLERANCE
  const more = others.length > 0 ? ` and ${others.length} more of ${values.length}` : ''
  const numbers = `${values[first]}, was ${content[first]}; at most ${atol} + ${rtol}·|expected| is allowed`
  return `the documented signature differs at position ${first}${more}: ${numbers} (${path})`
}
