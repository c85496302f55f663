const SIGNATURES: readonly (readonly [string, string])[] = [
  ['version https://git-lfs', 'a Git LFS pointer, not the file itself (run: git lfs pull)'],
  ['PK\x03\x04', 'a zip archive (a PyTorch .pt or an .npz?)'],
  ['\x1f\x8b', 'gzip data'],
  ['\x93NUMPY', 'a NumPy .npy file'],
  ['\x89HDF', 'an HDF5 file'],
  ['<!DOCTYPE', 'an HTML page'],
  ['<html', 'an HTML page'],
  ['\x80\x02', 'a Python pickle'],
  ['\x80\x03', 'a Python pickle'],
  ['\x80\x04', 'a Python pickle'],
  ['\x80\x05', 'a Python pickle'],
]

/** What a file looks like from its first bytes, in words for an error message. */
export function describeStart(start: Uint8Array): string {
  if (start.length === 0) return 'an empty file'
  const head = Buffer.from(start.subarray(0, 32)).toString('latin1')
  const known = SIGNATURES.find(([signature]) => head.startsWith(signature))
  return known?.[1] ?? `bytes that start with ${Buffer.from(start.subarray(0, 8)).toString('hex')}`
}
