import { crc32 } from 'node:zlib'
import { openRegular } from './regular-file.ts'

const BLOCK_BYTES = 2 ** 20

/** CRC-32 of a file's content: tells a damaged file from a whole one, nothing more. */
export async function crc32File(path: string): Promise<number> {
  const { handle } = await openRegular(path)
  try {
    const block = Buffer.allocUnsafe(BLOCK_BYTES)
    let sum = 0
    for (;;) {
      const { bytesRead } = await handle.read(block, 0, BLOCK_BYTES, null)
      if (bytesRead === 0) return sum
      sum = crc32(block.subarray(0, bytesRead), sum)
    }
  } finally {
    await handle.close()
  }
}
