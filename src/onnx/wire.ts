import { isUtf8 } from 'node:buffer'
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { FormatError } from '../domain/errors.ts'
import { remember } from '../domain/remember.ts'
import { NodeProtoSchema } from './generated/onnx-ml_pb.ts'

/** As in protobuf's own readers. */
const MAX_DEPTH = 100
/** Counted before anything is allocated. */
const MAX_MESSAGES = 20_000_000
export const MAX_NODES = 500_000
const VARINT = 0
const FIXED64 = 1
const LENGTH = 2
const FIXED32 = 5

/**
 * Walks a whole message before it is parsed: lengths must nest, wire types must fit the schema, text must be UTF-8.
 * Without this our parser and a runtime's could read two different models from the same bytes.
 */
export function checkWire(schema: DescMessage, bytes: Uint8Array, what: string): void {
  new WireChecker(bytes, what).message(schema, 0, bytes.length, 1)
}

const fieldsByNumber = new WeakMap<DescMessage, Map<number, DescField>>()

function fieldsOf(schema: DescMessage): Map<number, DescField> {
  return remember(fieldsByNumber, schema, () => new Map(schema.fields.map((field) => [field.number, field])))
}

class WireChecker {
  private at = 0
  private messages = 0
  private nodes = 0
  private readonly bytes: Uint8Array
  private readonly what: string
  constructor(bytes: Uint8Array, what: string) {
    this.bytes = bytes
    this.what = what
  }

  message(schema: DescMessage, start: number, end: number, depth: number): void {
    if (depth > MAX_DEPTH) throw this.bad(`messages nested deeper than ${MAX_DEPTH} were found`)
    this.count(schema)
    const fields = fieldsOf(schema)
    this.at = start
    while (this.at < end) {
      const tag = this.varint(end)
      const number = Math.floor(tag / 8)
      if (number === 0 || tag > 0xffffffff) throw this.bad('an impossible field number was found')
      this.field(fields.get(number), tag % 8, end, depth)
    }
  }

  private count(schema: DescMessage): void {
    this.messages++
    if (schema.typeName === NodeProtoSchema.typeName) this.nodes++
    if (this.nodes <= MAX_NODES && this.messages <= MAX_MESSAGES) return
    const found = this.nodes > MAX_NODES ? `more than ${MAX_NODES} nodes` : `more than ${MAX_MESSAGES} messages`
    throw new FormatError('too-many-nodes', `${this.what} has ${found}, which Assay does not read; split the model`)
  }

  private field(field: DescField | undefined, wireType: number, end: number, depth: number): void {
    if (field && !wireTypes(field).includes(wireType)) {
      throw this.bad(`field ${field.name} of ${field.parent.name} has wire type ${wireType}`)
    }
    if (wireType === VARINT) this.varint(end)
    else if (wireType === FIXED64) this.skip(8, end)
    else if (wireType === FIXED32) this.skip(4, end)
    else if (wireType === LENGTH) this.delimited(field, end, depth)
    else throw this.bad(`wire type ${wireType} was found`)
  }

  private delimited(field: DescField | undefined, end: number, depth: number): void {
    const length = this.varint(end)
    const start = this.at
    this.skip(length, end)
    const stop = this.at
    if (!field) return
    if (field.message) this.message(field.message, start, stop, depth + 1)
    else if (field.fieldKind === 'list' && field.scalar && !isDelimited(field.scalar)) {
      this.packed(field.scalar, start, stop)
    } else if (field.scalar === ScalarType.STRING && !isUtf8(this.bytes.subarray(start, stop))) {
      throw this.bad(`${field.name} of ${field.parent.name} is not UTF-8 text`)
    }
    this.at = stop
  }

  private packed(scalar: ScalarType, start: number, stop: number): void {
    const size = fixedBytes(scalar)
    if (size > 0 && (stop - start) % size !== 0) throw this.bad('a list of numbers ends in the middle of one')
    this.at = start
    while (size === 0 && this.at < stop) this.varint(stop)
  }

  private skip(length: number, end: number): void {
    this.at += length
    if (this.at > end) throw this.bad(`${length} bytes were announced, only ${end - (this.at - length)} are there`)
  }

  private varint(end: number): number {
    let value = 0
    for (let i = 0; i < 10 && this.at < end; i++) {
      const byte = this.bytes[this.at++]!
      value += (byte & 0x7f) * 2 ** (7 * i)
      if (byte < 0x80) return value
    }
    throw this.bad('a number does not end')
  }

  private bad(found: string): FormatError {
    const text = `${this.what} is damaged: ${found} (near byte ${this.at} of ${this.bytes.length}); get or export it again`
    return new FormatError('protobuf', text)
  }
}

function wireTypes(field: DescField): readonly number[] {
  if (field.message || !field.scalar) return [field.message ? LENGTH : VARINT]
  if (isDelimited(field.scalar)) return [LENGTH]
  const size = fixedBytes(field.scalar)
  const single = size === 8 ? FIXED64 : size === 4 ? FIXED32 : VARINT
  return field.fieldKind === 'list' ? [single, LENGTH] : [single]
}

function isDelimited(scalar: ScalarType): boolean {
  return scalar === ScalarType.STRING || scalar === ScalarType.BYTES
}

function fixedBytes(scalar: ScalarType): number {
  if (scalar === ScalarType.FLOAT || scalar === ScalarType.FIXED32 || scalar === ScalarType.SFIXED32) return 4
  if (scalar === ScalarType.DOUBLE || scalar === ScalarType.FIXED64 || scalar === ScalarType.SFIXED64) return 8
  return 0
}
