/**
 * What a runtime said that refused a model because of its versions, with those that it takes and how to convert; null:
 * it was refused for another reason. `opset` is the model's version of ai.onnx, null where it imports none.
 */
export function explainVersions(message: string, printed: string, opset: number | null): string | null {
  const old = opset && olderThanOnnxRuntime(message, opset)
  if (old) return old
  const all = `${message}\n${printed}`
  const older = [olderThanEvaluator, olderThanCompiler].map((rule) => opset && rule(all, opset))
  const advice = [newerIr(all), newerOpset(all), ...older].find((text) => typeof text === 'string')
  return advice === undefined ? null : `${message}; ${advice}`
}

const LIMIT_OF_IR = /Unsupported model IR version: \d+, max supported IR version: (\d+)/

function newerIr(message: string): string | null {
  const [, most] = LIMIT_OF_IR.exec(message) ?? []
  if (most === undefined) return null
  const code = `import onnx; m = onnx.load('model.onnx'); m.ir_version = ${most}; onnx.save(m, 'converted.onnx')`
  return `use a newer runtime, or convert: python3 -c "${code}"`
}

const LIMIT_OF_OPSET = /imports opset \d+ of ai\.onnx, expected at most (\d+)/

function newerOpset(message: string): string | null {
  const [, most] = LIMIT_OF_OPSET.exec(message) ?? []
  return most === undefined ? null : `to convert: ${conversionTo(Number(most))}`
}

const NO_KERNEL = /(?:no execution provider has a kernel for|Could not find an implementation for) (\w+).*/s
/** "ONNX Runtime only *guarantees* support for models stamped with opset version 7 or above", it logs of older ones. */
const FIRST_OF_ONNX_RUNTIME = 7

/** For such old models a missing kernel is not about types, whatever the runtime says. */
function olderThanOnnxRuntime(message: string, opset: number): string | null {
  if (opset >= FIRST_OF_ONNX_RUNTIME || !NO_KERNEL.test(message)) return null
  return message.replace(NO_KERNEL, (_, op) => {
    const found = `the model's opset ${opset} is too old: onnxruntime has no kernel for ${op} of that opset`
    return `${found}, and takes opset ${FIRST_OF_ONNX_RUNTIME} or newer; to convert: ${conversionTo(FIRST_OF_ONNX_RUNTIME)}`
  })
}

const KNOWN_VERSIONS = /No implementation for operator '(\w+)' domain '' and version \d+, found ([\d, ]*\d)/

function olderThanEvaluator(message: string, opset: number): string | null {
  const [, op, versions] = KNOWN_VERSIONS.exec(message) ?? []
  const first = Math.min(...(versions ?? '').split(',').map(Number))
  if (op === undefined || opset >= first) return null
  return `the model imports opset ${opset} of ai.onnx, this runtime has ${op} from opset ${first} on; to convert: ${conversionTo(first)}`
}

const NO_CONVERSION = /failed to legalize operation 'torch\.operator'[\s\S]*?"onnx\.(\w+)"/
/** IREE 3.13 takes Softmax from opset 13 on and BatchNormalization from a later one; at 21 it takes both. */
const RECENT_FOR_COMPILERS = 21

function olderThanCompiler(message: string, opset: number): string | null {
  const [, op] = NO_CONVERSION.exec(message) ?? []
  if (op === undefined || opset >= RECENT_FOR_COMPILERS) return null
  const found = `the model imports opset ${opset} of ai.onnx, and the compiler does not say from which opset on it takes ${op}`
  return `${found}; a newer one may help: ${conversionTo(RECENT_FOR_COMPILERS)}`
}

function conversionTo(opset: number): string {
  const code = `onnx.save(onnx.version_converter.convert_version(onnx.load('model.onnx'), ${opset}), 'converted.onnx')`
  return `python3 -c "import onnx, onnx.version_converter; ${code}"`
}
