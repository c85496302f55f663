import type { LogEvent, LoggedValues } from '../../../domain/convergence.ts'

type Labels = readonly string[]

/** Which values a step has: metrics, and the labels of each where it was logged. Most steps of a log are alike. */
interface Shape {
  readonly metrics: readonly string[]
  readonly labels: readonly (Labels | null)[]
}

/** Events as they go from a thread to another: a million small objects take longer to make and copy than to read. */
export interface PackedEvents {
  readonly shapes: readonly Shape[]
  /** Number of a step's shape; SAVE for a save. */
  readonly shapeOf: readonly number[]
  /** NaN: a save that has none. */
  readonly steps: readonly number[]
  /** All values in their order, in lines where none has a line end in it. */
  readonly texts: string | readonly string[]
}

const SAVE = -1

/** Collects events value by value. */
export class EventPacker {
  #shapes: Shape[] = []
  #shapeOf: number[] = []
  #steps: number[] = []
  #texts: string[] = []

  add(event: LogEvent): void {
    if (event.kind === 'save') this.addSave(event.checkpoint, event.step)
    else this.#addLogged(event)
  }

  #addLogged(event: Extract<LogEvent, { kind: 'step' }>): void {
    const metrics = Object.keys(event.metrics)
    const labels = metrics.map((metric) => Object.keys(event.metrics[metric]!))
    const texts = metrics.flatMap((metric, i) => labels[i]!.map((label) => event.metrics[metric]![label]!))
    this.addStep(event.step, { metrics, labels }, texts)
  }

  addSave(checkpoint: string, step = Number.NaN): void {
    this.#steps.push(step)
    this.#shapeOf.push(SAVE)
    this.#texts.push(checkpoint)
  }

  /** `shape` is copied where it is new, so that one object can serve for all steps. */
  addStep(step: number, shape: Shape, texts: readonly string[]): void {
    this.#steps.push(step)
    this.#shapeOf.push(this.#numberOf(shape))
    for (const text of texts) this.#texts.push(text)
  }

  get count(): number {
    return this.#steps.length
  }

  /** All so far; the next ones begin anew. */
  take(): PackedEvents {
    const hasLineEnds = this.#texts.some((text) => text.includes('\n'))
    const texts = hasLineEnds ? this.#texts : this.#texts.join('\n')
    const packed = { shapes: this.#shapes, shapeOf: this.#shapeOf, steps: this.#steps, texts }
    this.#shapes = []
    this.#shapeOf = []
    this.#steps = []
    this.#texts = []
    return packed
  }

  #numberOf(shape: Shape): number {
    const last = this.#shapes.length - 1
    if (last >= 0 && isSame(this.#shapes[last]!, shape)) return last
    const known = this.#shapes.findIndex((other) => isSame(other, shape))
    if (known >= 0) return known
    return this.#shapes.push({ metrics: shape.metrics, labels: [...shape.labels] }) - 1
  }
}

export function unpackEvents(packed: PackedEvents): readonly LogEvent[] {
  const texts = typeof packed.texts === 'string' ? packed.texts.split('\n') : packed.texts
  let at = 0
  return packed.steps.map((step, i): LogEvent => {
    const shape = packed.shapes[packed.shapeOf[i]!]
    if (shape === undefined) return save(texts[at++]!, step)
    const metrics: Record<string, LoggedValues> = {}
    for (let m = 0; m < shape.metrics.length; m++) {
      const labels = shape.labels[m]
      if (!labels) continue
      metrics[shape.metrics[m]!] = loggedValues(labels, texts, at)
      at += labels.length
    }
    return { kind: 'step', step, metrics }
  })
}

/** The values that begin at `from`, by label. */
function loggedValues(labels: Labels, texts: readonly string[], from: number): LoggedValues {
  // By far the most common, and six times as fast to make as by a key that is a variable.
  if (labels.length === 1 && labels[0] === '0') return { 0: texts[from]! }
  const values: Record<string, string> = {}
  for (let i = 0; i < labels.length; i++) values[labels[i]!] = texts[from + i]!
  return values
}

function save(checkpoint: string, step: number): LogEvent {
  return Number.isNaN(step) ? { kind: 'save', checkpoint } : { kind: 'save', checkpoint, step }
}

function isSame(a: Shape, b: Shape): boolean {
  if (a.metrics !== b.metrics && !isEqual(a.metrics, b.metrics)) return false
  for (let i = 0; i < a.labels.length; i++) if (!isEqual(a.labels[i]!, b.labels[i]!)) return false
  return true
}

function isEqual(a: Labels | null, b: Labels | null): boolean {
  return a === b || (a !== null && b !== null && a.length === b.length && a.every((label, i) => label === b[i]))
}
