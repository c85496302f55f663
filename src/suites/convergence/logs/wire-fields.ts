import { FormatError } from '../../../domain/errors.ts'

/** One field of a protobuf message: whole numbers of a varint, or the bytes of all other kinds. */
export interface WireField {
  readonly number: number
  readonly varint: bigint | null
  readonly bytes: Uint8Array
}

const EMPTY = new Uint8Array(0)
const FIXED_BYTES: Readonly<Record<number, number>> = { 1: 8, 5: 4 }

/** The fields of a message in their order. */
export function* wireFields(bytes: Uint8Array): Generator<WireField> {
  const reader = { bytes, at: 0 }
  while (reader.at < bytes.length) {
    const tag = Number(readVarint(reader))
    const [number, wireType] = [Math.floor(tag / 8), tag % 8]
    if (wireType === 0) yield { number, varint: readVarint(reader), bytes: EMPTY }
    else yield { number, varint: null, bytes: readBytes(reader, wireType) }
  }
}

interface WireReader {
  readonly bytes: Uint8Array
  at: number
}

function readBytes(reader: WireReader, wireType: number): Uint8Array {
  const length = wireType === 2 ? Number(readVarint(reader)) : FIXED_BYTES[wireType]
  if (length === undefined) throw damaged(`wire type ${wireType} was found`)
  if (length > reader.bytes.length - reader.at) throw damaged(`${length} bytes were announced that are not there`)
  const start = reader.at
  reader.at += length
  return reader.bytes.subarray(start, reader.at)
}

function readVarint(reader: WireReader): bigint {
  let value = 0n
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = reader.bytes[reader.at++]
    if (byte === undefined) break
    value |= BigInt(byte & 0x7f) << shift
    if (byte < 0x80) return value
  }
  throw damaged('a number does not end')
}

function damaged(found: string): FormatError {
  return new FormatError('tensorboard', `the event file is damaged: ${found}`)
}
