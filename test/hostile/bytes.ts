import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinBytes } from '../../src/tensors/join-bytes.ts'

const encoder = new TextEncoder()

export function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? encoder.encode(content) : content
}

/** A `make` that lays one file. */
export function file(name: string, content: string | Uint8Array): (folder: string) => void {
  return (folder) => writeFileSync(join(folder, name), content)
}

/** A pipe that nobody writes into. */
export function pipe(name: string): (folder: string) => void {
  return (folder) => {
    const { status, stderr } = spawnSync('mkfifo', [join(folder, name)], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`cannot make a pipe: ${stderr}`)
  }
}

/** A safetensors file from the text of its header. */
export function safetensors(
  header: string | Uint8Array,
  data: Uint8Array = new Uint8Array(0),
  length?: bigint,
): Uint8Array {
  const [text, size] = [bytesOf(header), new Uint8Array(8)]
  new DataView(size.buffer).setBigUint64(0, length ?? BigInt(text.length), true)
  return joinBytes([size, text, data])
}

/** An .npy file from the text of its header. */
export function npy(header: string, data: Uint8Array = new Uint8Array(0), version = 1): Uint8Array {
  const text = encoder.encode(`${header}\n`)
  const size = new Uint8Array(version === 1 ? 2 : 4)
  const view = new DataView(size.buffer)
  version === 1 ? view.setUint16(0, text.length, true) : view.setUint32(0, text.length, true)
  return joinBytes([Uint8Array.of(0x93, 78, 85, 77, 80, 89, version, 0), size, text, data])
}

export function npyHeader(descr: string, shape: string, order = 'False'): string {
  return `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}, }`
}

/** One length-delimited field of a protobuf message. */
export function field(number: number, content: Uint8Array | string): Uint8Array {
  const bytes = bytesOf(content)
  return joinBytes([varint(number * 8 + 2), varint(bytes.length), bytes])
}

/** Messages in each other, as deep as it says; each lies in all these fields in turn. */
export function deepField(depth: number, numbers: readonly number[], inside: Uint8Array): Uint8Array {
  const parts = [inside]
  let byteLength = inside.length
  for (let i = 0; i < depth; i++) {
    for (const number of numbers) {
      const head = joinBytes([varint(number * 8 + 2), varint(byteLength)])
      parts.push(head)
      byteLength += head.length
    }
  }
  return joinBytes(parts.reverse())
}

/** One field of a protobuf message that is a number. */
export function numberField(number: number, value: number | bigint): Uint8Array {
  return joinBytes([varint(number * 8), varint(value)])
}

export function varint(value: number | bigint): Uint8Array {
  const out: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128)
  return Uint8Array.of(...out, Number(rest))
}

/** As deep as it says, in brackets of any kind. */
export function nested(depth: number, open = '[', close = ']', inside = ''): string {
  return `${open.repeat(depth)}${inside}${close.repeat(depth)}`
}
