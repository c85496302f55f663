import { stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { StageError } from '../../domain/errors.ts'
import { type TensorSink, type Trace, tensorNames } from '../../domain/tensor.ts'
import { modelFromBytes, readModel } from '../../onnx/model.ts'
import type { ModelRef, ModelRun, Probe, Runtime, Session } from '../contract.ts'
import { sendTensor } from '../worker/send-tensor.ts'
import { findRecording } from './find-recording.ts'

/** Gives the outputs that lie in the folder named as its device. */
export function recordedRuntime(projectFolder: string): Runtime {
  return {
    name: 'recorded',
    probe: (device) => probe(resolve(projectFolder, device)),
    open: (model, { target }) => open(model, resolve(projectFolder, target.device)),
  }
}

async function probe(place: string): Promise<Probe> {
  if (!(await exists(place))) return { available: false, reason: `${place} does not exist` }
  return {
    available: true,
    version: '1',
    accepts: ['onnx'],
    capabilities: {
      dtypes: Object.keys(DTYPES) as DType[],
      kinds: ['tensor', 'sequence', 'optional'],
      taps: false,
      decode: false,
      profile: false,
    },
    detail: { place },
    // Files may change between two runs, and reading them costs no more than a cache would.
    fingerprint: null,
  }
}

async function open(model: ModelRef, place: string): Promise<Session> {
  const { inputs, outputs } =
    'path' in model ? await readModel(model.path) : await modelFromBytes(model.bytes, model.folder)
  const folder = await folderOf(model, place)
  const recording = await findRecording(folder, outputs)
  return {
    inputs,
    outputs,
    detail: { recorded: folder },
    run: (_inputs, sink) => replay(recording, sink),
    close: async () => {},
  }
}

/** Where recordings of several models lie side by side, each has a folder of the model's name. */
async function folderOf(model: ModelRef, place: string): Promise<string> {
  if (!('path' in model)) return place
  const stem = basename(model.path, extname(model.path))
  const name = stem === 'model' ? basename(dirname(resolve(model.path))) : stem
  const own = join(place, name)
  return (await exists(own)) ? own : place
}

async function replay(recording: Trace, sink: TensorSink): Promise<ModelRun> {
  const startedAt = performance.now()
  for (const name of recording.values.flatMap(tensorNames)) {
    const source = recording.tensors.get(name)
    if (!source) throw new StageError('run', `the recording has no tensor "${name}"`)
    await sendTensor({ ...source, name }, sink)
  }
  return { durationMs: performance.now() - startedAt, values: recording.values }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
