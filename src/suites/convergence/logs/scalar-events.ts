import { type WireField, wireFields } from './wire-fields.ts'

/** The scalars of one event of TensorBoard, by tag, in full precision. */
interface ScalarEvent {
  /** Null where it is no whole number from 0. */
  readonly step: number | null
  readonly scalars: readonly (readonly [tag: string, text: string])[]
}

const EVENT = { step: 2, summary: 5 }
const SUMMARY_VALUE = 1
const VALUE = { tag: 1, simpleValue: 2, tensor: 8 }
const TENSOR = { dtype: 1, content: 4, floats: 5, doubles: 6 }
const FLOAT = 1
const DOUBLE = 2

export function readScalarEvent(record: Uint8Array): ScalarEvent {
  let step: number | null = 0
  const scalars: [string, string][] = []
  for (const field of wireFields(record)) {
    if (field.number === EVENT.step && field.varint !== null) step = stepOf(field.varint)
    if (field.number === EVENT.summary) scalars.push(...summaryScalars(field.bytes))
  }
  return { step, scalars }
}

/** Negative ones are written as large numbers. */
function stepOf(varint: bigint): number | null {
  return varint <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(varint) : null
}

function* summaryScalars(summary: Uint8Array): Generator<[string, string]> {
  for (const { number, bytes } of wireFields(summary)) {
    if (number !== SUMMARY_VALUE) continue
    const fields = [...wireFields(bytes)]
    const tag = fields.findLast((field) => field.number === VALUE.tag)
    const text = scalarText(fields)
    if (tag && text !== null) yield [Buffer.from(tag.bytes).toString('utf8'), text]
  }
}

function scalarText(fields: readonly WireField[]): string | null {
  const field = fields.findLast(({ number }) => number === VALUE.simpleValue || number === VALUE.tensor)
  if (!field) return null
  return field.number === VALUE.tensor ? tensorText(field.bytes) : numberText(field.bytes, FLOAT)
}

/** A tensor of one element, however it holds it. */
function tensorText(tensor: Uint8Array): string | null {
  const fields = [...wireFields(tensor)]
  const dtype = Number(fields.findLast(({ number }) => number === TENSOR.dtype)?.varint ?? 0n)
  if (dtype !== FLOAT && dtype !== DOUBLE) return null
  const own = dtype === FLOAT ? TENSOR.floats : TENSOR.doubles
  const held = fields.filter(({ number, bytes }) => bytes.length > 0 && (number === TENSOR.content || number === own))
  return held.length === 1 ? numberText(held[0]!.bytes, dtype) : null
}

/** The shortest text that gives the same number back; that of a float32 is the text of its float64. */
function numberText(bytes: Uint8Array, dtype: number): string | null {
  if (bytes.length !== (dtype === FLOAT ? 4 : 8)) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const value = dtype === FLOAT ? view.getFloat32(0, true) : view.getFloat64(0, true)
  return Object.is(value, -0) ? '-0' : String(value)
}
