/** A margin is only compared with noise. */
const MARGIN_DIGITS = 4

/** What every row along the last axis has as its largest, next largest and smallest value, across chunks. */
export class RowScan {
  readonly #width: number
  #column = 0
  #high = -Infinity
  #next = -Infinity
  #low = Infinity
  #id = 0
  #hasNaN = false
  readonly low: number[] = []
  readonly high: number[] = []
  /** The lowest place among equals; null: a value of the row is NaN. */
  readonly ids: (number | null)[] = []
  readonly margins: number[] = []

  constructor(width: number) {
    this.#width = width
  }

  add(values: Float64Array): void {
    for (const value of values) {
      this.#take(value)
      if (++this.#column === this.#width) this.#endRow()
    }
  }

  #take(value: number): void {
    if (value > this.#high) {
      this.#next = this.#high
      this.#high = value
      this.#id = this.#column
    } else if (value > this.#next) this.#next = value
    if (value < this.#low) this.#low = value
    if (Number.isNaN(value)) this.#hasNaN = true
  }

  #endRow(): void {
    this.low.push(this.#hasNaN ? Number.NaN : this.#low)
    this.high.push(this.#hasNaN ? Number.NaN : this.#high)
    this.ids.push(this.#hasNaN ? null : this.#id)
    // Equal infinities have no distance.
    this.margins.push(this.#high === this.#next ? 0 : Number((this.#high - this.#next).toPrecision(MARGIN_DIGITS)))
    this.#column = 0
    this.#high = -Infinity
    this.#next = -Infinity
    this.#low = Infinity
    this.#id = 0
    this.#hasNaN = false
  }
}
