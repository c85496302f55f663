import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { FormatError } from '../../../domain/errors.ts'

/** One field of a protobuf message: whole numbers of a varint, or the bytes of all other kinds. */
export interface WireField {
  readonly number: number
  readonly varint: bigint | null
  readonly bytes: Uint8Array
}

const EMPTY = new Uint8Array(0)

/** The fields of a message in their order. */
export function* wireFields(bytes: Uint8Array): Generator<WireField> {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) yield readField(reader)
}

function readField(reader: BinaryReader): WireField {
  try {
    const [number, wireType] = reader.tag()
    if (wireType === WireType.Varint) return { number, varint: BigInt(reader.uint64()), bytes: EMPTY }
    const bytes = wireType === WireType.LengthDelimited ? reader.bytes() : reader.skip(wireType, number)
    return { number, varint: null, bytes }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new FormatError('tensorboard', `the event file is damaged: ${error.message}`, { cause: error })
  }
}
