import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { root } from './assay.ts'
import { TEST_PYTHON } from './python.ts'

export interface PaddedPrompts {
  readonly ids: readonly (readonly number[])[]
  readonly mask: readonly (readonly number[])[]
}

/** Logits of the last position: one row for each sequence. */
type StepLogits = readonly (readonly number[])[]

/** Greedy decoding of an ONNX export, prompt first and then one token at a time from the cache. */
export async function decodeWithOrt(file: string, prompts: PaddedPrompts, steps: number): Promise<StepLogits[]> {
  const session = await InferenceSession.create(file)
  let ids = prompts.ids.map((row) => [...row])
  const mask = prompts.mask.map((row) => [...row])
  let positions = mask.map(positionsOf)
  let cache = emptyCache(session, ids.length)
  const logits: StepLogits[] = []
  for (let step = 0; step < steps; step++) {
    const fed = {
      input_ids: integers(ids),
      attention_mask: integers(mask),
      position_ids: integers(positions),
      ...cache,
    }
    const output = await session.run(fed)
    logits.push(lastRows(output.logits!))
    cache = Object.fromEntries(
      Object.entries(output)
        .filter(([name]) => name !== 'logits')
        .map(([name, value]) => [name.replace('present', 'past_key_values'), value]),
    )
    ids = logits[step]!.map((row) => [row.indexOf(Math.max(...row))])
    for (const row of mask) row.push(1)
    positions = positions.map((row) => [row.at(-1)! + 1])
  }
  await session.release()
  return logits
}

/** What transformers computes from the weights of each folder, in one process: importing it takes seconds. */
export function decodeWithTransformers(
  folders: readonly string[],
  prompts: PaddedPrompts,
  steps: number,
): StepLogits[][] {
  const script = join(root, 'test/workers/decode-with-transformers.py')
  const input = JSON.stringify({ folders, ...prompts, steps })
  const ran = spawnSync(TEST_PYTHON ?? 'python3', [script], { input, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (ran.status !== 0) throw new Error(ran.stderr)
  return JSON.parse(ran.stdout) as StepLogits[][]
}

export function largestDifference(a: readonly StepLogits[], b: readonly StepLogits[]): number {
  const [left, right] = [a.flat(2), b.flat(2)]
  if (left.length !== right.length) return Number.NaN
  return left.reduce((most, value, i) => Math.max(most, Math.abs(value - right[i]!)), 0)
}

/** 0 for padding, then 0, 1, 2 … */
function positionsOf(mask: readonly number[]): number[] {
  let seen = 0
  return mask.map((real) => (real === 1 ? seen++ : 0))
}

function integers(rows: readonly (readonly number[])[]): Tensor {
  return new Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0]!.length])
}

function emptyCache(session: InferenceSession, batch: number): Record<string, Tensor> {
  const values = session.inputMetadata.flatMap((value) => {
    if (!value.isTensor || !value.name.startsWith('past_key_values')) return []
    const [, heads, , size] = value.shape.map(Number)
    const data = value.type === 'float16' ? new Uint16Array(0) : new Float32Array(0)
    return [[value.name, new Tensor(value.type, data, [batch, heads!, 0, size!])] as const]
  })
  return Object.fromEntries(values)
}

function lastRows({ data, dims }: Tensor): number[][] {
  const [batch = 0, length = 0, vocabulary = 0] = dims
  return Array.from({ length: batch }, (_, row) => {
    const end = (row + 1) * length * vocabulary
    return Array.from(data.slice(end - vocabulary, end), Number)
  })
}
