import { smallTokenizer } from '../../src/models/testing/small-tokenizer.ts'
import { buildModel } from '../../src/onnx/builder.ts'
import { GRAPH_FILE } from '../../src/runtimes/testing/folder-runtime.ts'
import { tensor } from './small-models.ts'

const CONFIG = JSON.stringify({ model_type: 'tiny', vocab_size: 4 })

const FOUR_TOKENS = [1, 2, 3, -1, 0.5, 4, 2, -2]

/** Logits of every position: the embedding of its token, turned, by all embeddings. */
export function languageModel(turn = -1, table: readonly number[] = FOUR_TOKENS): Uint8Array {
  const count = table.length / 2
  const columns = [0, 1].flatMap((column) => table.filter((_, i) => i % 2 === column))
  return buildModel({
    inputs: [
      { name: 'input_ids', dtype: 'int64', shape: ['batch', 'length'] },
      { name: 'attention_mask', dtype: 'int64', shape: ['batch', 'length'] },
    ],
    outputs: [{ name: 'logits', dtype: 'float32' }],
    initializers: {
      table: tensor('float32', [count, 2], table),
      turned: tensor('float32', [2, count], columns),
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

const VOCABULARY = 262

/** A decoder with a tokenizer, which goes on with another token after most tokens. */
export function promptedFolder(folder: string, turn = -1, more: Readonly<Record<string, unknown>> = {}) {
  const angles = Array.from({ length: VOCABULARY }, (_, id) => id * 2.4)
  const graph = languageModel(
    turn,
    angles.flatMap((angle) => [Math.cos(angle), Math.sin(angle)]),
  )
  const config = { model_type: 'tiny', architectures: ['TinyForCausalLM'], vocab_size: VOCABULARY, ...more }
  return {
    ...languageFolder(folder, graph),
    [`${folder}/config.json`]: JSON.stringify(config),
    [`${folder}/tokenizer.json`]: JSON.stringify(smallTokenizer()),
  }
}
