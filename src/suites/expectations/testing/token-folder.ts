import { join } from 'node:path'
import type { DType } from '../../../domain/dtype.ts'
import type { Tensor } from '../../../domain/tensor.ts'
import { writeWeights } from '../../../files/formats/weights-writer.ts'
import { randomStream } from '../../../models/random.ts'
import { buildModel } from '../../../onnx/builder.ts'
import { GRAPH_FILE } from '../../../runtimes/testing/folder-runtime.ts'
import { encodeNumbers } from '../../../tensors/encode.ts'
import { memorySource } from '../../../tensors/memory-source.ts'
import { folderWith } from '../../testing/judge.ts'

const [VOCABULARY, WIDTH] = [70, 8]
export type TokenWeights = Readonly<Record<'embedding' | 'head' | 'ends', Float32Array>>

function drawn(name: string, count: number): Float32Array {
  const random = randomStream(3, name)
  return Float32Array.from({ length: count }, () => random.normal())
}

/** Weights of a model that knows enough tokens for the fixed inputs. */
export function tokenWeights(): TokenWeights {
  return {
    embedding: drawn('embedding', VOCABULARY * WIDTH),
    head: drawn('head', WIDTH * VOCABULARY),
    ends: drawn('ends', WIDTH * 2),
  }
}

const SHAPES = { embedding: [VOCABULARY, WIDTH], head: [WIDTH, VOCABULARY], ends: [WIDTH, 2] } as const

function tensorOf(name: keyof TokenWeights, weights: TokenWeights, dtype: DType = 'float32'): Tensor {
  return { dtype, shape: [...SHAPES[name]], bytes: encodeNumbers(dtype, weights[name]) }
}

/** Logits of every position; with `ends`, where an answer starts and where it ends. */
function graphOf(weights: TokenWeights, kind: 'logits' | 'ends'): Uint8Array {
  const ids = { name: 'input_ids', dtype: 'int64', shape: ['batch', 'length'] } as const
  const embedded = { op: 'Gather', inputs: ['embedding', 'input_ids'], outputs: ['embedded'] }
  if (kind === 'logits') {
    return buildModel({
      inputs: [ids, { ...ids, name: 'attention_mask' }],
      outputs: [{ name: 'logits', dtype: 'float32' }],
      initializers: { embedding: tensorOf('embedding', weights), head: tensorOf('head', weights) },
      nodes: [embedded, { op: 'MatMul', inputs: ['embedded', 'head'], outputs: ['logits'] }],
    })
  }
  const index = (value: bigint): Tensor => ({
    dtype: 'int64',
    shape: [],
    bytes: new Uint8Array(new BigInt64Array([value]).buffer),
  })
  const picked = (name: string, at: string) => ({
    op: 'Gather',
    inputs: ['both', at],
    outputs: [name],
    attributes: { axis: 2n },
  })
  return buildModel({
    inputs: [ids],
    outputs: [
      { name: 'start_logits', dtype: 'float32' },
      { name: 'end_logits', dtype: 'float32' },
    ],
    initializers: {
      embedding: tensorOf('embedding', weights),
      ends: tensorOf('ends', weights),
      first: index(0n),
      second: index(1n),
    },
    nodes: [
      embedded,
      { op: 'MatMul', inputs: ['embedded', 'ends'], outputs: ['both'] },
      picked('start_logits', 'first'),
      picked('end_logits', 'second'),
    ],
  })
}

const ARCHITECTURES = { logits: 'TinyForCausalLM', ends: 'TinyForQuestionAnswering' }

/** A folder that the runtime of tests runs, with the same weights as safetensors. */
export async function tokenFolder(
  place: string,
  weights = tokenWeights(),
  kind: 'logits' | 'ends' = 'logits',
  vocabulary = VOCABULARY,
): Promise<string> {
  const config = { model_type: 'tiny', architectures: [ARCHITECTURES[kind]], vocab_size: vocabulary }
  const folder = folderWith({
    [`${place}/config.json`]: JSON.stringify(config),
    [`${place}/${GRAPH_FILE}`]: graphOf(weights, kind),
  })
  await writeTokenWeights(join(folder, place), weights)
  return folder
}

/** Other weights for a folder that is there. */
async function writeTokenWeights(folder: string, weights: TokenWeights): Promise<void> {
  const names = ['embedding', 'head', 'ends'] as const
  await writeWeights(
    join(folder, 'model.safetensors'),
    names.map((name) => memorySource(`model.${name}.weight`, tensorOf(name, weights))),
  )
}
