/** Gives each key to one holder at a time. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<void>>()
  readonly #end = new Map<string, () => void>()

  /** Resolves when all earlier holders are done. */
  async begin(key: string): Promise<void> {
    const before = this.#last.get(key) ?? Promise.resolve()
    let end = () => {}
    const mine = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#last.set(key, mine)
    await before
    this.#end.set(key, end)
  }

  end(key: string): void {
    this.#end.get(key)?.()
    this.#end.delete(key)
  }
}
