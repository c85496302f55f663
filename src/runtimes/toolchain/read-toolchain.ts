import { resolve } from 'node:path'
import { parseSeconds } from '../../domain/duration.ts'
import { UsageError } from '../../domain/errors.ts'
import { isObject } from '../../domain/json.ts'
import { unknown } from '../../domain/suggest.ts'
import { isVariableName } from '../process/inherited-environment.ts'
import { checkTemplates } from './check-templates.ts'
import {
  type ArgvTemplate,
  type IrFiles,
  TENSOR_FILES,
  TOOL_STAGES,
  type Toolchain,
  type ToolchainSettings,
  type ToolStage,
} from './definition.ts'

export const TOOLCHAIN_KEYS: readonly string[] = [
  'version',
  'import',
  'compile',
  'run',
  'tensors',
  'limits',
  'env',
  'cwd',
  'ir',
  'files',
]
const PLAIN_NAME = /^[\w-][\w.-]{0,99}$/

/** Reads what a configuration says about a toolchain; `where` names it in errors, `folder` is where its paths begin. */
export function readToolchain(name: string, given: unknown, folder: string, where: string): Toolchain {
  const problem = (text: string) => new UsageError('toolchain', `${where}: ${text}`)
  if (!PLAIN_NAME.test(name)) throw problem('its name may have letters, digits, ".", "-" and "_"')
  const fields = objectOf(given, TOOLCHAIN_KEYS, where)
  for (const key of ['compile', 'run']) if (fields[key] === undefined) throw problem(`${key} is missing`)
  const settings: Partial<ToolchainSettings> = fields
  const [version = null, own = null] = [settings.version, settings.import]
  if (version !== null) checkWords(version, 'version', problem)
  for (const stage of TOOL_STAGES) if (fields[stage] !== undefined) checkArgv(fields[stage], stage, problem)
  const toolchain: Toolchain = {
    name,
    version,
    argv: { import: own, compile: settings.compile!, run: settings.run! },
    tensors: tensorsOf(fields.tensors, where),
    limitsMs: limitsOf(fields.limits, where),
    env: words(fields.env, 'env', problem).map((variable) => checkedVariable(variable, problem)),
    cwd: resolve(folder, text(fields.cwd ?? '.', 'cwd', problem)),
    ir: readIr(words(fields.ir, 'ir', problem), problem),
    files:
      fields.files === undefined ? null : words(fields.files, 'files', problem).map((file) => resolve(folder, file)),
  }
  checkTemplates(toolchain, problem)
  return toolchain
}

type Problem = (text: string) => UsageError
type Fields = Readonly<Record<string, unknown>>

function objectOf(given: unknown, known: readonly string[], where: string): Fields {
  if (!isObject(given)) {
    throw new UsageError('toolchain', `${where}: found ${describe(given)}, expected an object with ${known.join(', ')}`)
  }
  for (const key of Object.keys(given))
    if (!known.includes(key)) throw unknown('toolchain', `key "${key}" in ${where}`, key, known)
  return given
}

function checkArgv(given: unknown, key: string, problem: Problem): asserts given is ArgvTemplate {
  const [first] = list(given, key, problem)
  for (const item of list(given, key, problem)) if (Array.isArray(item)) checkWords(item, key, problem)
  const words = list(given, key, problem).filter((item) => !Array.isArray(item))
  if (words.length > 0) checkWords(words, key, problem)
  if (typeof first !== 'string') throw problem(`${key} begins with a list, expected the program`)
}

function checkWords(given: unknown, key: string, problem: Problem): asserts given is readonly string[] {
  const items = list(given, key, problem)
  const wrong = items.find((item) => typeof item !== 'string')
  if (wrong !== undefined) throw problem(`${key} holds ${describe(wrong)}, expected strings; write numbers as '8'`)
  if (items[0] === '') throw problem(`${key} begins with an empty string, expected the program`)
  if (items.some((item) => String(item).includes('\0'))) throw problem(`${key} holds a NUL character`)
}

function list(given: unknown, key: string, problem: Problem): readonly unknown[] {
  if (typeof given === 'string') {
    throw problem(`${key} is one string, expected a list: there is no shell. Write ${asList(given)}`)
  }
  if (!Array.isArray(given)) throw problem(`${key} is ${describe(given)}, expected a list of arguments`)
  if (given.length === 0) throw problem(`${key} is empty, expected a program and its arguments`)
  return given
}

function asList(command: string): string {
  const parts = command
    .trim()
    .split(/\s+/)
    .map((word) => `'${word}'`)
  return `[${parts.join(', ')}]`
}

function words(given: unknown, key: string, problem: Problem): readonly string[] {
  if (given === undefined) return []
  if (Array.isArray(given) && given.every((item) => typeof item === 'string')) return given
  throw problem(`${key} is ${describe(given)}, expected a list of strings`)
}

function text(given: unknown, key: string, problem: Problem): string {
  if (typeof given === 'string') return given
  throw problem(`${key} is ${describe(given)}, expected a string`)
}

function tensorsOf(given: unknown, where: string): Toolchain['tensors'] {
  const known = TENSOR_FILES.find((kind) => kind === (given ?? 'npy'))
  if (known) return known
  throw unknown('toolchain', `tensors "${given}" in ${where}`, String(given), TENSOR_FILES)
}

function limitsOf(given: unknown, where: string): Toolchain['limitsMs'] {
  const fields = objectOf(given ?? {}, TOOL_STAGES, `limits of ${where}`)
  return Object.fromEntries(
    Object.entries(fields).map(([stage, limit]) => {
      const seconds = parseSeconds(String(limit))
      if (seconds) return [stage as ToolStage, Math.round(seconds * 1000)]
      throw new UsageError('toolchain', `${where}: limits.${stage} is "${limit}", expected a time such as 20s or 5min`)
    }),
  )
}

function checkedVariable(name: string, problem: Problem): string {
  if (isVariableName(name)) return name
  throw problem(`env holds "${name.replace(/=.*/s, '=***')}", expected only the name of a variable`)
}

/** `module.4.flow.mlir` is the form `flow`, unless another one ends like that. */
function readIr(files: readonly string[], problem: Problem): IrFiles[] {
  const wrong = files.find((file) => !PLAIN_NAME.test(file))
  if (wrong !== undefined) throw problem(`ir names "${wrong}", expected a plain file name in {ir_dir}`)
  const stems = files.map((file) => file.replace(/\.[^.]*$/, '') || file)
  const short = stems.map((stem) => stem.slice(stem.lastIndexOf('.') + 1))
  const names = stems.map((stem, i) => (short.indexOf(short[i]!) === short.lastIndexOf(short[i]!) ? short[i]! : stem))
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw problem(`ir names "${twice}" twice, expected files that differ before their ending`)
  return files.map((file, i) => ({ name: names[i]!, file }))
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `${typeof value} ${JSON.stringify(value)}`
}

/** A toolchain by the name that a target gives it. */
export function findToolchain(name: string, toolchains: Readonly<Record<string, Toolchain>>): Toolchain {
  const found = Object.hasOwn(toolchains, name) ? toolchains[name] : undefined
  if (found) return found
  const known = Object.keys(toolchains)
  if (known.length === 0) {
    const hint = 'describe it in assay.config.ts, as in toolchains: { mycc: { compile: […], run: […] } }'
    throw new UsageError('toolchain', `unknown toolchain "${name}": the configuration has none; ${hint}`)
  }
  throw unknown('toolchain', `toolchain "${name}"`, name, known, `the configuration has ${known.sort().join(', ')}`)
}
