import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { FormatError } from '../../../domain/errors.ts'
import { readText } from '../../../files/disk/regular-file.ts'

/** What the documented tests call the two kinds of models. */
export const DOCUMENTED_CLASSES = { decoder: 'TestAIUDecoderModels', tuple: 'TestAIUModelsTupleOutput' } as const
export type OutputKind = keyof typeof DOCUMENTED_CLASSES

type DocumentedTest = 'test_model_output' | 'test_model_weight_keys'

const MODULE = 'models.test_model_expectations'
const LARGEST = 2 ** 24

/** What another tool captured of a model of this name. */
export interface DocumentedFile<T> {
  readonly path: string
  readonly content: T
}

/** The signature of a documented file; null: there is none of this model. */
export async function readDocumentedSignature(
  folder: string,
  kind: OutputKind,
  model: string,
): Promise<DocumentedFile<readonly number[]> | null> {
  const file = await readLine(folder, kind, model, 'test_model_output')
  if (!file) return null
  return { ...file, content: file.content.map((word) => readNumber(word, file.path)) }
}

/** The names of weights of a documented file. */
export function readDocumentedKeys(
  folder: string,
  kind: OutputKind,
  model: string,
): Promise<DocumentedFile<readonly string[]> | null> {
  return readLine(folder, kind, model, 'test_model_weight_keys')
}

async function readLine(
  folder: string,
  kind: OutputKind,
  model: string,
  test: DocumentedTest,
): Promise<DocumentedFile<readonly string[]> | null> {
  const path = join(folder, `${MODULE}.${DOCUMENTED_CLASSES[kind]}.${basename(model)}.${test}`)
  if (!existsSync(path)) return null
  const [line = ''] = (await readText(path, LARGEST)).split('\n')
  return { path, content: line.split(',').map((word) => word.trim()) }
}

/** As Python writes and reads them. */
function readNumber(word: string, path: string): number {
  if (/^[+-]?nan$/i.test(word)) return Number.NaN
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(word)
  if (infinite) return infinite[1] === '-' ? -Infinity : Infinity
  const number = Number(word)
  if (word !== '' && Number.isFinite(number)) return number
  throw new FormatError('signature', `${path}: found "${word.slice(0, 40)}" where a number belongs; capture it again`)
}

/** The documented tolerance; NaN is never equal. */
export const DOCUMENTED_TOLERANCE = { atol: 1e-5, rtol: 1.3e-6 }

/** Positions at which a signature is over the documented tolerance. */
export function differingPositions(expected: readonly number[], found: readonly number[]): number[] {
  const { atol, rtol } = DOCUMENTED_TOLERANCE
  const isClose = (a: number, e: number) => a === e || Math.abs(a - e) <= atol + rtol * Math.abs(e)
  return expected.flatMap((value, place) => (isClose(found[place]!, value) ? [] : [place]))
}
