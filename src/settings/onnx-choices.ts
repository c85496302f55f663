import { overrideTolerance, toleranceFor } from '../compare/rules/tolerances.ts'
import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/target.ts'
import { inputPolicyOf, parseInputOption } from '../models/inputs/input-policy.ts'
import type { GroupPattern } from '../onnx/layers/layer-groups.ts'
import type { InputRules } from '../suites/onnx/inputs.ts'
import { LAYER_INPUTS, type LayerInputs, ONNX_SCOPES, type OnnxScope } from '../suites/onnx/suite.ts'
import type { ToleranceRule } from '../suites/tensors/rules.ts'
import { parseDims, type ShapeChoices } from '../suites/tensors/shapes.ts'
import type { AssayConfig } from './assay-config.ts'
import type { TestValues } from './test-values.ts'

export interface OnnxChoices {
  readonly scopes: readonly OnnxScope[]
  readonly layerGroups: readonly GroupPattern[]
  readonly layerInputs: LayerInputs
  readonly seed: number
  readonly shapes: ShapeChoices
  readonly inputs: readonly InputRules[]
  readonly tolerances: readonly ToleranceRule[]
}

const ANY = '**'

/** Config first, command line after it: later rules win. */
export function onnxChoices(values: TestValues, config: AssayConfig): OnnxChoices {
  return {
    scopes: values.scope.split(',').map(readScope),
    layerGroups: values.layerGroup.map(readGroup),
    layerInputs: readLayerInputs(values.layerInputs),
    seed: values.seed,
    shapes: [...configShapes(config), { match: ANY, dims: parseDims(values.dim) }],
    inputs: [...configInputs(config), { match: ANY, policies: commandLineInputs(values.input) }],
    tolerances: [...configTolerances(config), ...commandLineTolerances(values)].map(refuseVacuous),
  }
}

function readScope(word: string): OnnxScope {
  const known = ONNX_SCOPES.find((scope) => scope === word.trim())
  if (known) return known
  throw unknown('scope', `--scope "${word}"`, word, ONNX_SCOPES)
}

function readGroup(text: string): GroupPattern {
  const ops = text.split('+').map((op) => op.trim())
  if (ops.length > 1 && ops.every((op) => /^\w+$/.test(op))) return ops
  throw new UsageError('layer-group', `--layer-group takes two or more ops such as Conv+Clip, found "${text}"`)
}

function readLayerInputs(word: string): LayerInputs {
  const known = LAYER_INPUTS.find((how) => how === word)
  if (known) return known
  throw unknown('layer-inputs', `--layer-inputs "${word}"`, word, LAYER_INPUTS)
}

/** Before the first case runs, not when it is compared. */
function refuseVacuous(rule: ToleranceRule): ToleranceRule {
  overrideTolerance(toleranceFor('float32', 'model'), rule)
  return rule
}

function configShapes(config: AssayConfig): ShapeChoices {
  return Object.entries(config.dims ?? {}).map(([match, dims]) => ({
    match,
    dims: Object.fromEntries(Object.entries(dims).map(([name, sizes]) => [name, [sizes].flat()])),
  }))
}

function configInputs(config: AssayConfig): InputRules[] {
  return Object.entries(config.inputs ?? {}).map(([match, policies]) => ({
    match,
    policies: Object.fromEntries(Object.entries(policies).map(([name, given]) => [name, inputPolicyOf(given)])),
  }))
}

function commandLineInputs(texts: readonly string[]): InputRules['policies'] {
  return Object.fromEntries(texts.map(parseInputOption).map(({ name, policy }) => [name, policy]))
}

function configTolerances(config: AssayConfig): ToleranceRule[] {
  return (config.tolerances ?? []).map((rule, i) => ({ ...stripped(rule), source: `config tolerances[${i}]` }))
}

function commandLineTolerances({ rtol, atol, allowedMismatch }: TestValues): ToleranceRule[] {
  const given = stripped({ rtol, atol, allowedMismatch })
  return Object.keys(given).length > 0 ? [{ ...given, source: 'command line' }] : []
}

function stripped<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
