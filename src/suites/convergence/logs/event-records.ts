import { FormatError } from '../../../domain/errors.ts'
import { maskedCrc32c } from './crc32c.ts'

const HEADER_BYTES = 12
const FOOTER_BYTES = 4
const MAX_RECORD_BYTES = 2 ** 28

/** Takes records out of a record file of TensorFlow: length, its sum, data, their sum. */
export class EventRecords {
  #rest = Buffer.alloc(0)
  #offset = 0

  /** Incomplete records wait for more bytes. */
  feed(bytes: Uint8Array): Uint8Array[] {
    this.#rest = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes])
    const records: Uint8Array[] = []
    for (let record = this.#next(); record !== null; record = this.#next()) records.push(record)
    return records
  }

  #next(): Uint8Array | null {
    if (this.#rest.length < HEADER_BYTES) return null
    const length = this.#length()
    const end = HEADER_BYTES + length
    if (this.#rest.length < end + FOOTER_BYTES) return null
    const record = this.#rest.subarray(HEADER_BYTES, end)
    if (this.#rest.readUInt32LE(end) !== maskedCrc32c(record))
      throw this.#damaged('a checksum does not match its record')
    this.#rest = this.#rest.subarray(end + FOOTER_BYTES)
    this.#offset += end + FOOTER_BYTES
    return record
  }

  #length(): number {
    const sum = maskedCrc32c(this.#rest.subarray(0, 8))
    if (this.#rest.readUInt32LE(8) !== sum) throw this.#damaged('no record length was found')
    const length = this.#rest.readBigUInt64LE(0)
    if (length > MAX_RECORD_BYTES) throw this.#damaged(`a record of ${length} bytes was found`)
    return Number(length)
  }

  #damaged(found: string): FormatError {
    return new FormatError('tensorboard', `the event file is damaged: ${found} (at byte ${this.#offset})`)
  }
}
