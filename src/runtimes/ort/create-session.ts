import type { OnnxRuntime, OrtSession, OrtSessionOptions } from './onnxruntime.ts'

/** Opens a model; a refusal says what was found and what to do. */
export async function createSession(
  ort: OnnxRuntime,
  model: string | Uint8Array,
  options: OrtSessionOptions,
): Promise<OrtSession> {
  try {
    return await ort.InferenceSession.create(model, options)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new Error(explainRefusal(message), { cause: error })
  }
}

/** The place in onnxruntime's own source and the signature of the function that threw. */
const SOURCE_PLACE = /\/\S+\.(?:h|cc|cpp):\d+ .*?\([^()]*\)(?: const)? /gs
const TOO_NEW = /Opset (\d+) is under development.*support for domain (\S+) is till opset (\d+)/s
const UNKNOWN_OP = /No Op registered for \S+ with domain_version of \d+/
const NO_KERNEL = /Provider type for (\S+) node with name '([^']*)' is not set/

export function explainRefusal(message: string): string {
  const newer = TOO_NEW.exec(message)
  if (newer) {
    const [, opset, domain, known] = newer
    return `the model imports opset ${opset} of ${domain}, expected at most ${known}; export it for that opset or use a newer onnxruntime`
  }
  const [, op, name] = NO_KERNEL.exec(message) ?? []
  if (op) return `no execution provider has a kernel for ${op}${name ? ` "${name}"` : ''} with these types`
  const text = plainWords(message)
  return UNKNOWN_OP.test(text) ? `${text}; export the model without this op or use a version that has it` : text
}

/** One line, without places in somebody else's source. */
export function plainWords(message: string): string {
  return message.replace(SOURCE_PLACE, '').replace(/\s+/g, ' ').trim()
}
