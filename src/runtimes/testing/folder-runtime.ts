import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { flatten } from '../../onnx/flatten.ts'
import { modelFromBytes } from '../../onnx/model.ts'
import { tapModel } from '../../onnx/taps.ts'
import type { ModelRef, OpenOptions, Probe, Runtime, Session } from '../contract.ts'
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
  return { ...probe, accepts: ['huggingface'], capabilities: { ...capabilities, taps: true, decode: false } }
}

async function openFolder(model: ModelRef, options: OpenOptions): Promise<Session> {
  const path = 'path' in model ? model.path : model.folder
  const folder = basename(path) === 'config.json' ? dirname(path) : path
  const graph = new Uint8Array(await readFile(join(folder, GRAPH_FILE)))
  const bytes = options.taps ? await withEveryValue(graph, folder) : graph
  return realOrt().open({ format: 'onnx', bytes, folder }, options)
}

async function withEveryValue(graph: Uint8Array, folder: string): Promise<Uint8Array> {
  const model = await modelFromBytes(graph, folder)
  const flat = flatten(model, new Map())
  const values = [...flat.nodes.values()].flatMap(({ output }) => output)
  return tapModel(model, flat, values).bytes
}
