import { buildModel } from '../../src/onnx/builder.ts'
import { GRAPH_FILE } from '../../src/runtimes/testing/folder-runtime.ts'
import { tensor } from './small-models.ts'

const CONFIG = JSON.stringify({ model_type: 'tiny', vocab_size: 4 })

/** Logits of every position: the embedding of its token, turned, by all embeddings. */
export function languageModel(turn = -1): Uint8Array {
  const table = [1, 2, 3, -1, 0.5, 4, 2, -2]
  return buildModel({
    inputs: [
      { name: 'input_ids', dtype: 'int64', shape: ['batch', 'length'] },
      { name: 'attention_mask', dtype: 'int64', shape: ['batch', 'length'] },
    ],
    outputs: [{ name: 'logits', dtype: 'float32' }],
    initializers: {
      table: tensor('float32', [4, 2], table),
      turned: tensor('float32', [2, 4], [1, 3, 0.5, 2, 2, -1, 4, -2]),
      turn: tensor('float32', [], [turn]),
      last: tensor('int64', [1], [-1n]),
    },
    nodes: [
      { op: 'Gather', inputs: ['table', 'input_ids'], outputs: ['embedded'] },
      { op: 'Cast', inputs: ['attention_mask'], outputs: ['mask'], attributes: { to: 1n } },
      { op: 'Unsqueeze', inputs: ['mask', 'last'], outputs: ['column'] },
      { op: 'Mul', inputs: ['embedded', 'column'], outputs: ['heard'] },
      { op: 'Mul', inputs: ['heard', 'turn'], outputs: ['hidden'] },
      { op: 'MatMul', inputs: ['hidden', 'turned'], outputs: ['logits'] },
    ],
  })
}

/** Its files, in a folder. */
export const languageFolder = (folder: string, graph = languageModel()) => ({
  [`${folder}/config.json`]: CONFIG,
  [`${folder}/${GRAPH_FILE}`]: graph,
})
