const TRIES = 5

/** How many times as much processor time work takes with the larger size; others who use the machine do not count. */
export async function growthOf(work: (size: number) => unknown, small: number, large: number): Promise<number> {
  const leastOf = async (size: number) => {
    let leastMicros = Number.POSITIVE_INFINITY
    for (let i = 0; i < TRIES; i++) leastMicros = Math.min(leastMicros, await processorMicros(() => work(size)))
    return leastMicros
  }
  await work(small)
  return (await leastOf(large)) / (await leastOf(small))
}

async function processorMicros(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
