import { type MetricPrefix, parsePrefix } from '../../../files/formats/metric-prefix.ts'

/** Each has a file of its own for every layer. */
export type CsvMetric = 'abs_diff' | 'cos_sim'

export interface LayerCsvName extends MetricPrefix {
  /** What the names of one measurement begin with. */
  readonly prefix: string
  readonly layer: string
  /** 0 is the first call, whose files carry no number. */
  readonly iteration: number
  readonly metric: CsvMetric
}

/** `<prefix>--<layer>.abs_diff.csv`; from the second step on `<prefix>--<layer>.iter-1.abs_diff.csv`. */
export function layerCsvName(prefix: string, layer: string, step: number, metric: CsvMetric): string {
  return `${prefix}--${escapeLayer(layer)}${step === 0 ? '' : `.iter-${step}`}.${metric}.csv`
}

const NAME = /^(.+)--(.+?)(?:\.iter-(\d+))?\.(abs_diff|cos_sim)\.csv$/s

/** null: no name of such a file. */
export function parseLayerCsvName(name: string): LayerCsvName | null {
  const [, prefix = '', layer = '', iteration = '0', metric] = NAME.exec(name) ?? []
  const parsed = parsePrefix(prefix)
  if (parsed === null) return null
  return { ...parsed, prefix, layer: unescapeLayer(layer), iteration: Number(iteration), metric: metric as CsvMetric }
}

/** Names of ONNX tensors are paths; two dashes would end the prefix. */
function escapeLayer(layer: string): string {
  const encode = (letter: string) => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  return layer.replace(/[%/\\:*?"<>|]/g, encode).replaceAll('--', '%2D%2D')
}

function unescapeLayer(layer: string): string {
  return layer.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
