import { readFileSync, writeFileSync } from 'node:fs'

interface StoredTensor {
  readonly dtype: string
  readonly shape: readonly number[]
  readonly data_offsets: readonly [number, number]
}

/** Names and places of the tensors in a safetensors file. */
function headerOf(bytes: Buffer): { readonly tensors: Readonly<Record<string, StoredTensor>>; readonly start: number } {
  const start = 8 + Number(bytes.readBigUInt64LE(0))
  const { __metadata__: _, ...tensors } = JSON.parse(bytes.toString('utf8', 8, start))
  return { tensors, start }
}

export function weightNames(path: string): string[] {
  return Object.keys(headerOf(readFileSync(path)).tensors)
}

/** Multiplies one float32 weight. */
export function spoilWeight(path: string, name: string, factor = 2): void {
  const bytes = readFileSync(path)
  const { tensors, start } = headerOf(bytes)
  const { dtype, data_offsets: offsets } = tensors[name]!
  if (dtype !== 'F32') throw new Error(`${name} is ${dtype}, expected F32`)
  for (let at = start + offsets[0]; at < start + offsets[1]; at += 4) {
    bytes.writeFloatLE(factor * bytes.readFloatLE(at), at)
  }
  writeFileSync(path, bytes)
}
