import { extname, resolve } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { Side } from '../../domain/verdict.ts'
import { folderDigest } from '../../models/hugging-face/model-folder.ts'
import type { TextSizes } from '../../models/hugging-face/text-sizes.ts'
import type { Tokenizer } from '../../models/hugging-face/tokenizer/tokenizer.ts'
import type { RuntimeInfo } from '../../runtimes/contract.ts'
import type { DecodingModel } from './decode-side.ts'
import type { OnnxExports } from './onnx-exports.ts'

/** A text-generation model that is on this machine. */
export interface DecoderModel extends TextSizes {
  /** The model's part of the case id. */
  readonly name: string
  /** As it was asked for: a folder, or an id of a hub. */
  readonly given: string
  readonly folder: string
  readonly tokenizer: Tokenizer
  /** A sequence ends with the first of these. */
  readonly eos: readonly number[]
  /** A version with three layers stands for it; null: it is the model itself. */
  readonly micro: 'trained' | 'random' | null
}

/** What a target opens: the ONNX export if it accepts one, else the folder. */
export async function makeSideModel(
  { folder }: DecoderModel,
  side: Side,
  target: Target,
  { accepts }: RuntimeInfo,
  cwd: string,
  exports: OnnxExports,
): Promise<DecodingModel> {
  const other = target.options.model
  const path = other === undefined ? folder : resolve(cwd, other)
  if (accepts.includes('onnx')) {
    const found = await exports.of(path, target.options.variant)
    if (found) return found
  }
  if (accepts.includes('huggingface') && extname(path) !== '.onnx') {
    return { ref: { format: 'huggingface', path }, digest: await folderDigest(path, exports.digests) }
  }
  throw new StageError('compile', `${target.name} takes ${accepts.join(' or ')}, but ${path} has none`, { side })
}
