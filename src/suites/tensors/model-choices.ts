import { overrideTolerance, toleranceFor } from '../../compare/rules/tolerances.ts'
import { parseInputOption, readInputPolicy } from '../../models/inputs/input-policy.ts'
import type { Values } from '../../options/table.ts'
import type { InputRules } from './inputs.ts'
import type { ModelSections } from './model-sections.ts'
import type { COMPARISON_OPTIONS, INPUT_OPTIONS, SCOPE_OPTION } from './options.ts'
import type { ToleranceRule } from './rules.ts'
import { parseDims, type ShapeChoices } from './shapes.ts'

/** How models are run and compared, whoever runs them. */
export interface ModelChoices {
  readonly scopes: ModelValues['scope']
  readonly seed: number
  readonly shapes: ShapeChoices
  readonly inputs: readonly InputRules[]
  readonly tolerances: readonly ToleranceRule[]
}

export type ModelValues = Values<typeof INPUT_OPTIONS & typeof COMPARISON_OPTIONS & typeof SCOPE_OPTION>

const ANY = '**'

/** Config first, command line after it: later rules win. */
export function modelChoices(values: ModelValues, config: ModelSections): ModelChoices {
  return {
    scopes: values.scope,
    seed: values.seed,
    shapes: [...configShapes(config), { match: ANY, dims: parseDims(values.dim) }],
    inputs: [...configInputs(config), { match: ANY, policies: commandLineInputs(values.input) }],
    tolerances: [...configTolerances(config), ...commandLineTolerances(values)].map(refuseVacuous),
  }
}

/** Before the first case runs, not when it is compared. */
function refuseVacuous(rule: ToleranceRule): ToleranceRule {
  overrideTolerance(toleranceFor('float32', 'model'), rule)
  return rule
}

function configShapes(config: ModelSections): ShapeChoices {
  return Object.entries(config.dims ?? {}).map(([match, dims]) => ({
    match,
    dims: Object.fromEntries(Object.entries(dims).map(([name, sizes]) => [name, [sizes].flat()])),
  }))
}

function configInputs(config: ModelSections): InputRules[] {
  return Object.entries(config.inputs ?? {}).map(([match, policies]) => ({
    match,
    policies: Object.fromEntries(Object.entries(policies).map(([name, given]) => [name, readInputPolicy(given)])),
  }))
}

function commandLineInputs(texts: readonly string[]): InputRules['policies'] {
  return Object.fromEntries(texts.map(parseInputOption).map(({ name, policy }) => [name, policy]))
}

function configTolerances(config: ModelSections): ToleranceRule[] {
  return (config.tolerances ?? []).map((rule, i) => ({ ...stripped(rule), source: `config tolerances[${i}]` }))
}

function commandLineTolerances({ rtol, atol, allowedMismatch }: Values<typeof COMPARISON_OPTIONS>): ToleranceRule[] {
  const given = stripped({ rtol, atol, allowedMismatch })
  return Object.keys(given).length > 0 ? [{ ...given, source: 'command line' }] : []
}

function stripped<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
