import { join } from 'node:path'
import { randomFractions } from '../../src/compare/diff/samples.ts'
import type { Tensor } from '../../src/domain/tensor.ts'
import { writeNpy } from '../../src/files/formats/npy.ts'
import { encodeNumbers } from '../../src/tensors/encode.ts'
import { memorySource } from '../../src/tensors/memory-source.ts'

const [CHANNELS, HEIGHT, WIDTH] = [3, 16, 32]
const PLANE = HEIGHT * WIDTH
const random = randomFractions(5)

const IMAGE = Array.from({ length: CHANNELS * PLANE }, (_, i) => {
  const [channel, y, x] = [Math.floor(i / PLANE), Math.floor(i / WIDTH) % HEIGHT, i % WIDTH]
  return Math.sin(x / 5 + channel) * Math.cos(y / 4 - channel) + 0.2 * random()
})

/** The image of `reference.npy`, (1, 3, 16, 32), and what may have become of it, by name. */
export const PLANTED: Readonly<Record<string, readonly number[]>> = {
  reference: IMAGE,
  transposed: IMAGE.map((_, i) => IMAGE[(i % CHANNELS) * PLANE + Math.floor(i / CHANNELS)]!),
  swapped: IMAGE.map((value, i) => IMAGE[Math.abs(i - (i % PLANE) - 2 * PLANE) + (i % PLANE)] ?? value),
  scaled: IMAGE.map((value) => value * 1.02),
  noisy: IMAGE.map((value) => value + 0.01 * (random() - 0.5)),
}

export function imageTensor(numbers: readonly number[]): Tensor {
  const dtype = 'float32'
  return { dtype, shape: [1, CHANNELS, HEIGHT, WIDTH], bytes: encodeNumbers(dtype, numbers) }
}

/** Writes all of them as .npy files. */
export async function writePlanted(folder: string): Promise<void> {
  for (const [name, numbers] of Object.entries(PLANTED)) {
    await writeNpy(join(folder, `${name}.npy`), memorySource(name, imageTensor(numbers)))
  }
}
