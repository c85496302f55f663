const NUMERIC = /^\d+$/

/** `loss.MLM`, or the metric's name alone where it has one label that is a number. */
export function seriesName(metric: string, label: string, labels: number): string {
  return labels === 1 && NUMERIC.test(label) ? metric : `${metric}.${label}`
}
