type Work = () => unknown

const left: Work[] = []

/** Does this when the test file is done; what was asked for last comes first. */
export function atFileEnd(work: Work): void {
  left.push(work)
}

export async function endFile(): Promise<void> {
  for (let work = left.pop(); work; work = left.pop()) await work()
}
