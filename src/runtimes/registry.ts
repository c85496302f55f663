import { parseSeconds } from '../domain/duration.ts'
import { findEntry } from '../domain/entry.ts'
import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/suggest.ts'
import {
  HARDWARE_KEYS,
  type HardwareKey,
  isVersionWord,
  parseTarget,
  type Target,
  type TargetSchemas,
} from '../domain/target.ts'
import { cleanText } from '../domain/text.ts'
import { BROWSER_SCHEMA } from './browser/schema.ts'
import { CHROMIUM_SCHEMA } from './chromium/schema.ts'
import { COMMAND_SCHEMA } from './command/schema.ts'
import type { RuntimeKind, RuntimeSchema } from './contract.ts'
import { ORT_SCHEMA } from './ort/schema.ts'
import { ORT_WEB_SCHEMA } from './ort-web/schema.ts'
import { isVariableName } from './process/inherited-environment.ts'
import { IREE_SCHEMA, ONNX_REFERENCE_SCHEMA, ONNXRUNTIME_SCHEMA, OPENVINO_SCHEMA } from './python/schema.ts'
import { RECORDED_SCHEMA } from './recorded/schema.ts'
import { SSH_SCHEMA } from './ssh/schema.ts'
import { TOOLCHAIN_SCHEMA } from './toolchain/schema.ts'
import { TORCH_SCHEMA } from './torch/schema.ts'

const SCHEMAS: Readonly<Record<string, RuntimeSchema>> = {
  ort: ORT_SCHEMA,
  'ort-web': ORT_WEB_SCHEMA,
  chromium: CHROMIUM_SCHEMA,
  browser: BROWSER_SCHEMA,
  torch: TORCH_SCHEMA,
  onnxruntime: ONNXRUNTIME_SCHEMA,
  'onnx-reference': ONNX_REFERENCE_SCHEMA,
  openvino: OPENVINO_SCHEMA,
  iree: IREE_SCHEMA,
  command: COMMAND_SCHEMA,
  toolchain: TOOLCHAIN_SCHEMA,
  ssh: SSH_SCHEMA,
  recorded: RECORDED_SCHEMA,
}

const KINDS: Readonly<Record<string, () => Promise<RuntimeKind>>> = {
  ort: async () => (await import('./ort/kind.ts')).ORT,
  'ort-web': async () => (await import('./ort-web/kind.ts')).ORT_WEB,
  chromium: async () => (await import('./chromium/kind.ts')).CHROMIUM,
  browser: async () => (await import('./browser/kind.ts')).BROWSER,
  torch: async () => (await import('./torch/kind.ts')).TORCH,
  onnxruntime: async () => (await import('./python/kind.ts')).ONNXRUNTIME,
  'onnx-reference': async () => (await import('./python/kind.ts')).ONNX_REFERENCE,
  openvino: async () => (await import('./python/kind.ts')).OPENVINO,
  iree: async () => (await import('./python/kind.ts')).IREE,
  command: async () => (await import('./command/kind.ts')).COMMAND,
  toolchain: async () => (await import('./toolchain/kind.ts')).TOOLCHAIN,
  ssh: async () => (await import('./ssh/kind.ts')).SSH,
  recorded: async () => (await import('./recorded/kind.ts')).RECORDED,
}

/** What every runtime says about its spec strings. */
export const TARGET_SCHEMAS: TargetSchemas = SCHEMAS

/** Reads a target's spec string and checks the values of its options. */
export function readTarget(spec: string): Target {
  const target = parseTarget(spec, SCHEMAS)
  const schema = findSchema(target.runtime)
  if (schema.devices && !schema.devices.includes(target.device)) {
    throw unknown('target', `device "${target.device}" in target "${spec}"`, target.device, schema.devices)
  }
  for (const [option, value] of Object.entries(target.options)) checkValue(spec, schema, option, value)
  for (const key of HARDWARE_KEYS) refuseUnused(key, target, schema)
  schema.check?.(target)
  return target
}

/** A verdict must not name hardware that was not used. */
function refuseUnused(key: HardwareKey, { name, runtime, options }: Target, { hardware = [] }: RuntimeSchema): void {
  if (options[key] === undefined || hardware.includes(key)) return
  throw unusedHardware(key, `${key}=${cleanText(options[key], 120)} of target "${name}"`, runtime)
}

export const HARDWARE_NOUNS: Readonly<Record<HardwareKey, string>> = {
  hw: 'hardware type',
  chip: 'chip',
  board: 'board',
}

/** `found` says where it is named, `who` says what does not use it. */
export function unusedHardware(key: HardwareKey, found: string, who: string): UsageError {
  const takers = Object.entries(SCHEMAS).filter(([, { hardware }]) => hardware?.includes(key))
  const shown = takers.map(([name, { describedIn }]) => (describedIn ? `${name} (whose tools use {${key}})` : name))
  const advice = `leave it out, or give it to a target that takes one: ${shown.join(', ')}`
  return new UsageError('target', `${found}: ${who} uses no ${HARDWARE_NOUNS[key]}; ${advice}`)
}

export function findSchema(runtime: string): RuntimeSchema {
  const schema = findEntry(SCHEMAS, runtime)
  if (!schema) throw unknown('target', `runtime "${runtime}"`, runtime, Object.keys(SCHEMAS))
  return schema
}

export async function runtimeKind(name: string): Promise<RuntimeKind> {
  const load = findEntry(KINDS, name)
  if (!load) throw unknown('target', `runtime "${name}"`, name, Object.keys(KINDS))
  return load()
}

function checkValue(spec: string, schema: RuntimeSchema, option: string, value: string): void {
  const choices = schema.choices?.[option]
  if (choices && !choices.includes(value)) {
    const what = `value "${value}" of ${option} in target "${spec}"`
    throw unknown('target', what, value, choices, `it takes ${choices.join(', ')}`)
  }
  if (schema.counts?.includes(option) && !/^[1-9]\d{0,4}$/.test(value)) {
    throw new UsageError('target', `${option}=${value} in target "${spec}"; expected a whole number from 1 up`)
  }
  if (schema.wholeNumbers?.includes(option) && !/^\d{1,18}$/.test(value)) {
    throw new UsageError('target', `${option}=${value} in target "${spec}"; expected a whole number from 0 up`)
  }
  if (schema.durations?.includes(option) && !((parseSeconds(value) ?? 0) > 0)) {
    throw new UsageError('target', `${option}=${value} in target "${spec}"; expected a time such as 20s or 5min`)
  }
  if (schema.variables?.includes(option)) checkVariables(spec, option, value)
  if (schema.versions?.includes(option) && !isVersionWord(value)) {
    throw new UsageError(
      'target',
      `${option}=${value} in target "${spec}"; expected a version such as 1.30.0 or latest`,
    )
  }
}

/** A value does not belong on a command line, which others see and records keep. */
function checkVariables(spec: string, option: string, value: string): void {
  const wrong = value.split(',').find((name) => !isVariableName(name))
  if (wrong === undefined) return
  const bare = wrong.slice(0, wrong.indexOf('='))
  const name = isVariableName(bare) ? bare : 'NAME'
  const what = wrong.includes('=') ? 'a variable with its value' : `"${wrong}"`
  throw new UsageError(
    'target',
    `${option}= in target "${withoutValues(spec, option)}" has ${what}; expected only a name, as in ${option}=${name}; set its value where assay is started`,
  )
}

function withoutValues(spec: string, option: string): string {
  return spec.replace(new RegExp(`(,${option}=[^,=]*)=[^,]*`, 'g'), '$1=***')
}
