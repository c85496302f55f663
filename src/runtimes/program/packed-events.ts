import type { LogEvent, LoggedMetrics, LoggedValues } from '../../domain/convergence.ts'

/** Metrics with their labels, as the steps of a log mostly have them all alike. */
type Shape = readonly (readonly [metric: string, labels: readonly string[]])[]

/** Events as they go from a thread to another: copying a million small objects would take longer than reading them. */
export type PackedEvents =
  | {
      readonly kind: 'packed'
      readonly shapes: readonly Shape[]
      /** Number of a step's shape; SAVE for a save. */
      readonly shapeOf: Int32Array
      /** NaN: a save that has none. */
      readonly steps: Float64Array
      /** All values in their order, a line each. */
      readonly texts: string
    }
  | { readonly kind: 'plain'; readonly events: readonly LogEvent[] }

const SAVE = -1

export function packEvents(events: readonly LogEvent[]): PackedEvents {
  const shapes: Shape[] = []
  const shapeOf = new Int32Array(events.length)
  const steps = new Float64Array(events.length)
  const texts: string[] = []
  for (let i = 0; i < events.length; i++) {
    const event = events[i]!
    steps[i] = event.step ?? Number.NaN
    if (event.kind === 'step') shapeOf[i] = packStep(event.metrics, shapes, texts)
    else shapeOf[i] = texts.push(event.checkpoint) && SAVE
  }
  if (texts.some((text) => text.includes('\n'))) return { kind: 'plain', events }
  return { kind: 'packed', shapes, shapeOf, steps, texts: texts.join('\n') }
}

export function unpackEvents(packed: PackedEvents): readonly LogEvent[] {
  if (packed.kind === 'plain') return packed.events
  const texts = packed.texts.split('\n')
  let at = 0
  return Array.from(packed.steps, (step, i): LogEvent => {
    const shape = packed.shapes[packed.shapeOf[i]!]
    if (shape === undefined) return save(texts[at++]!, step)
    const metrics: Record<string, LoggedValues> = {}
    for (const [metric, labels] of shape) {
      const values: Record<string, string> = {}
      for (const label of labels) values[label] = texts[at++]!
      metrics[metric] = values
    }
    return { kind: 'step', step, metrics }
  })
}

function save(checkpoint: string, step: number): LogEvent {
  return Number.isNaN(step) ? { kind: 'save', checkpoint } : { kind: 'save', checkpoint, step }
}

/** The number of its shape, most often the last one. */
function packStep(metrics: LoggedMetrics, shapes: Shape[], texts: string[]): number {
  const names = Object.keys(metrics)
  const last = shapes.at(-1)
  if (last !== undefined && packAs(last, names, metrics, texts)) return shapes.length - 1
  const known = shapes.findIndex((shape) => packAs(shape, names, metrics, texts))
  if (known >= 0) return known
  const shape = names.map((name) => [name, Object.keys(metrics[name]!)] as const)
  packAs(shape, names, metrics, texts)
  return shapes.push(shape) - 1
}

function packAs(shape: Shape, names: readonly string[], metrics: LoggedMetrics, texts: string[]): boolean {
  const before = texts.length
  let fits = names.length === shape.length
  for (let i = 0; fits && i < shape.length; i++) {
    const [metric, labels] = shape[i]!
    fits = names[i] === metric && packValues(labels, metrics[metric]!, texts)
  }
  if (!fits) texts.length = before
  return fits
}

function packValues(labels: readonly string[], values: LoggedValues, texts: string[]): boolean {
  const found = Object.keys(values)
  for (let i = 0; i < found.length; i++) {
    if (found[i] !== labels[i]) return false
    texts.push(values[found[i]!]!)
  }
  return found.length === labels.length
}
