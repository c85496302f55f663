import type { ModelRef, OpenOptions, Probe, Runtime, Session } from '../contract.ts'
import { processorIdentity } from '../fingerprint.ts'
import { createSession } from './create-session.ts'
import { listIrLevels, saveIr } from './ir.ts'
import type { OnnxRuntime } from './onnxruntime.ts'
import { describeOptions, sessionOptions, withFolder, wrapSession } from './session.ts'
import { ORT_DTYPES } from './tensors.ts'

export interface NativeOnnxRuntime extends OnnxRuntime {
  /** Absent before 1.18. */
  readonly listSupportedBackends?: () => readonly { readonly name: string; readonly bundled: boolean }[]
}

export interface LoadedLibrary {
  readonly ort: NativeOnnxRuntime
  readonly version: string
  /** The file that was loaded. */
  readonly file: string
}

export function ortRuntime(library: LoadedLibrary): Runtime {
  return {
    name: 'ort',
    probe: (device) => probe(library, device),
    open: (model, options) => open(library, model, options),
    writeIr: (model, options) => saveIr(library.ort, model, options),
  }
}

async function probe({ ort, version, file }: LoadedLibrary, device: string): Promise<Probe> {
  const backends = ort.listSupportedBackends?.().map((backend) => backend.name) ?? ['cpu']
  if (!backends.includes(device)) {
    return {
      available: false,
      reason: `onnxruntime-node ${version} has no device "${device}", only ${backends.join(', ')}`,
    }
  }
  const problem = device === 'cpu' ? null : await whyUnusable(ort, device)
  if (problem) return { available: false, reason: `onnxruntime-node ${version} cannot use ${device}: ${problem}` }
  return {
    available: true,
    version,
    accepts: ['onnx'],
    // Graphs with 4-bit outputs open and run, but 4-bit inputs cannot be made.
    capabilities: {
      dtypes: ORT_DTYPES,
      outputDtypes: [...ORT_DTYPES, 'int4', 'uint4'],
      kinds: ['tensor'],
      taps: false,
      decode: true,
      profile: false,
      // Of others it is not known whether their sessions share memory.
      ...(device === 'cpu' && { cheap: true, islands: true }),
      forms: listIrLevels(version),
    },
    detail: { library: `onnxruntime-node ${version}`, file, devices: backends.join(', ') },
    fingerprint: JSON.stringify(['onnxruntime-node', version, processorIdentity()]),
  }
}

/** y = Identity(x) over one float; some providers fail only when a session asks for them. */
const TINY_MODEL =
  'CAgSBWFzc2F5Oj8KFAoBeBIBeRoAIghJZGVudGl0eToAEgVncmFwaFoPCgF4EgoKCAgBEgQKAggBYg8KAXkSCgoICAESBAoCCAFCBAoAEA0='

async function whyUnusable(ort: OnnxRuntime, device: string): Promise<string | null> {
  const target = { name: device, runtime: 'ort', version: null, device, options: {} }
  try {
    const session = await ort.InferenceSession.create(
      new Uint8Array(Buffer.from(TINY_MODEL, 'base64')),
      sessionOptions(target),
    )
    await session.release()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function open(library: LoadedLibrary, model: ModelRef, { target }: OpenOptions): Promise<Session> {
  const { ort, version, file } = library
  const options = sessionOptions(target)
  const session =
    'path' in model
      ? await createSession(ort, model.path, options)
      : await createSession(ort, model.bytes, withFolder(options, model.folder))
  const detail = { library: `onnxruntime-node ${version}`, file, ...describeOptions(options) }
  return wrapSession(ort, session, detail, target.device === 'cpu')
}
