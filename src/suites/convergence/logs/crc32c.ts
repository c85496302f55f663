const POLYNOMIAL = 0x82f63b78

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1
  return sum
})

/** CRC-32C, turned and shifted as record files of TensorFlow have it. */
export function maskedCrc32c(bytes: Uint8Array): number {
  let sum = 0xffffffff
  for (let i = 0; i < bytes.length; i++) sum = (sum >>> 8) ^ TABLE[(sum ^ bytes[i]!) & 0xff]!
  sum = ~sum >>> 0
  return (((sum >>> 15) | (sum << 17)) + 0xa282ead8) >>> 0
}
