import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ModelRef, OpenOptions, Probe, Runtime, Session } from '../contract.ts'
import { processorIdentity } from '../fingerprint.ts'
import { createSession } from '../ort/create-session.ts'
import type { OnnxRuntime } from '../ort/onnxruntime.ts'
import { describeOptions, sessionOptions, wrapSession } from '../ort/session.ts'
import { ORT_DTYPES } from '../ort/tensors.ts'
import { asBuffer, viewBytes } from '../protocol/bytes.ts'

export interface LoadedBundle {
  readonly ort: OnnxRuntime
  readonly version: string
  /** The script that was loaded. */
  readonly file: string
}

export function ortWebRuntime(bundle: LoadedBundle): Runtime {
  return {
    name: 'ort-web',
    probe: (device) => probe(bundle, device),
    open: (model, options) => open(bundle, model, options),
  }
}

async function probe({ version, file }: LoadedBundle, device: string): Promise<Probe> {
  if (device !== 'wasm') {
    return { available: false, reason: `onnxruntime-web in Node has no device "${device}", only wasm` }
  }
  const library = `onnxruntime-web ${version}`
  const bundle = file.slice(file.lastIndexOf('/') + 1)
  return {
    available: true,
    version,
    accepts: ['onnx'],
    capabilities: {
      dtypes: ORT_DTYPES,
      kinds: ['tensor'],
      taps: false,
      decode: true,
      profile: false,
      cheap: true,
      islands: true,
    },
    detail: { library, bundle, file, engine: `V8 ${process.versions.v8}` },
    fingerprint: JSON.stringify([library, bundle, process.versions.v8, processorIdentity()]),
  }
}

async function open({ ort, version, file }: LoadedBundle, model: ModelRef, options: OpenOptions): Promise<Session> {
  const wished = sessionOptions(options.target)
  ort.env.wasm.numThreads = wished.intraOpNumThreads
  const folder = 'path' in model ? dirname(model.path) : model.folder
  const bytes = 'path' in model ? await readBytes(model.path) : model.bytes
  const externalData = await readExternalData(bytes, folder)
  const session = await createSession(ort, bytes, { ...wished, ...(externalData && { externalData }) })
  const library = `onnxruntime-web ${version}`
  return wrapSession(ort, session, { library, file, ...describeOptions(wished) })
}

/** WebAssembly sees no files, so weights beside the model are handed over in memory. */
async function readExternalData(bytes: Uint8Array, folder: string) {
  if (!asBuffer(bytes).includes('location')) return null
  const { modelFromBytes } = await import('../../onnx/model.ts')
  const { externalFiles } = await modelFromBytes(bytes, folder)
  return Promise.all(externalFiles.map(async ({ location, path }) => ({ path: location, data: await readBytes(path) })))
}

async function readBytes(path: string): Promise<Uint8Array> {
  return viewBytes(await readFile(path))
}
