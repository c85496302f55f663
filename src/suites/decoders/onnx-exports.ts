import { remember } from '../../domain/remember.ts'
import { FileDigests } from '../../files/disk/digest.ts'
import { findDecoder, type OnnxDecoder } from '../../models/hugging-face/onnx-decoder.ts'

/** ONNX exports of folders, each read and cut once in a run. */
export class OnnxExports {
  readonly digests: FileDigests
  readonly #found = new Map<string, Promise<OnnxDecoder | null>>()

  constructor(digests: FileDigests = new FileDigests()) {
    this.digests = digests
  }

  of(path: string, variant?: string): Promise<OnnxDecoder | null> {
    const key = JSON.stringify([path, variant ?? null])
    return remember(this.#found, key, () => findDecoder(path, this.digests, variant))
  }
}
