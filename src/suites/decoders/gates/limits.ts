import { DEFAULT_LIMITS, KNOWN_LIMITS } from './known-limits.ts'

/** At or over these a token counts as wrong. */
export interface MetricLimits {
  readonly ce: number
  readonly diffMean: number
}

export interface ChosenLimits extends MetricLimits {
  /** In words: where they come from. */
  readonly source: string
  /** Nothing is known about this model. */
  readonly areDefaults: boolean
}

/** Everything that may say what the limits of a model are. */
export interface LimitSources {
  /** By model: what `assay thresholds` wrote. */
  readonly file: { readonly path: string; readonly limits: MetricLimits } | null
  readonly commandLine: MetricLimits | undefined
  readonly configuration: ReadonlyMap<string, MetricLimits>
  readonly variable: MetricLimits | undefined
  readonly micro: 'trained' | 'random' | null
}

/** File, command line, model configuration, built-in table, variable, default: the first that has them. */
export function chooseLimits(model: string, sources: LimitSources): ChosenLimits {
  const { file, commandLine, configuration, variable } = sources
  const found = (limits: MetricLimits, source: string) => ({ ...limits, source, areDefaults: false })
  if (file) return found(file.limits, file.path)
  if (commandLine) return found(commandLine, '--metrics-threshold')
  const row = configuration.get(model)
  if (row) return found(row, 'the model configuration')
  const known = knownLimits(model, sources.micro)
  if (known) return found(known, 'the built-in table')
  if (variable) return found(variable, 'FMS_TEST_SHAPES_METRICS_THRESHOLD')
  return { ...DEFAULT_LIMITS, source: 'the default pair', areDefaults: true }
}

/** Random weights are no model that anybody measured. */
function knownLimits(model: string, micro: LimitSources['micro']): MetricLimits | undefined {
  const known = Object.hasOwn(KNOWN_LIMITS, model) ? KNOWN_LIMITS[model] : undefined
  if (micro === 'random') return undefined
  return micro === 'trained' ? (known?.micro ?? known?.full) : known?.full
}
