/** Lets a number of programs run at once, the others in the order in which they asked. */
export class ProgramTurns {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(jobs: number) {
    this.#free = jobs
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
