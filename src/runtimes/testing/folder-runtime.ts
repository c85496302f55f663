import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { memoryTrace } from '../../files/formats/memory-trace.ts'
import { flatten } from '../../onnx/flatten.ts'
import { modelFromBytes } from '../../onnx/model.ts'
import { tapModel } from '../../onnx/taps.ts'
import { wholeNumbers } from '../../tensors/whole-numbers.ts'
import type { DecodeRequest, DecodeStep, ModelRef, OpenOptions, Probe, Runtime, Session } from '../contract.ts'
import { Course } from '../decoder/course.ts'
import { readRow } from '../decoder/read-logits.ts'
import { realOrt } from './in-process-ort.ts'

/** Where such a folder has what it computes, as an ONNX graph. */
export const GRAPH_FILE = 'model.bin'

/** Runs Hugging Face folders whose weights file is an ONNX graph; what each node gives counts as a module. */
export function folderRuntime(): Runtime {
  return {
    name: 'folders',
    probe: async (device) => takingFolders(await realOrt().probe(device)),
    open: openFolder,
  }
}

function takingFolders(probe: Probe): Probe {
  if (!probe.available) return probe
  const { forms: _forms, ...capabilities } = probe.capabilities
  return { ...probe, accepts: ['huggingface'], capabilities: { ...capabilities, taps: true, decode: true } }
}

async function openFolder(model: ModelRef, options: OpenOptions): Promise<Session> {
  const path = 'path' in model ? model.path : model.folder
  const folder = basename(path) === 'config.json' ? dirname(path) : path
  const graph = new Uint8Array(await readFile(join(folder, GRAPH_FILE)))
  const bytes = options.taps ? await withEveryValue(graph, folder) : graph
  const session = await realOrt().open({ format: 'onnx', bytes, folder }, options)
  return { ...session, decode: (request) => decodeWithoutCache(session, request) }
}

/** Each position is computed by itself, so that nothing needs to be remembered from one step to the next. */
async function* decodeWithoutCache(session: Session, request: DecodeRequest): AsyncGenerator<DecodeStep, void> {
  const course = new Course(request, true)
  for (let step = 0; step < request.newTokens && !course.isOver; step++) {
    const forced = request.force?.(step)
    const { ids, mask } = course.fed
    const width = ids[0]!.length
    const fed = { input_ids: wholeNumbers(ids), attention_mask: wholeNumbers(mask.map((row) => row.slice(-width))) }
    let logits = new Float32Array()
    const { durationMs } = await session.run(memoryTrace(new Map(Object.entries(fed))), async (chunk) => {
      if (chunk.name === 'logits') logits = new Float32Array(chunk.bytes.slice().buffer)
      await request.taps?.(chunk)
    })
    const size = logits.length / (ids.length * width)
    const rows = ids.map((_, i) => logits.subarray(((i + 1) * width - 1) * size, (i + 1) * width * size))
    const sequences = rows.map((row, i) => readRow(row, request, forced?.[i] ?? null, undefined))
    course.append(sequences)
    yield { step, durationMs, sequences }
  }
}

async function withEveryValue(graph: Uint8Array, folder: string): Promise<Uint8Array> {
  const model = await modelFromBytes(graph, folder)
  const flat = flatten(model, new Map())
  const values = [...flat.nodes.values()].flatMap(({ output }) => output)
  return tapModel(model, flat, values).bytes
}
