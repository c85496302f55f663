/** Where those meet that do their work at the same time, and that may wait for each other. */
export interface Meeting {
  /** One has given everything. */
  ended(which: number): void
  /** One has failed: others must not wait for it. */
  failed(error: unknown): void
}

/** Does all of this at the same time. The first failure is the one that counts. */
export async function doTogether<T>(works: readonly (() => Promise<T>)[], meeting: Meeting): Promise<T[]> {
  const failures: unknown[] = []
  const done = await Promise.all(
    works.map(async (work, i) => {
      try {
        const value = await work()
        meeting.ended(i)
        return [value]
      } catch (error) {
        failures.push(error)
        meeting.failed(error)
        return []
      }
    }),
  )
  if (failures.length > 0) throw failures[0]
  return done.flat(1) as T[]
}
