const EXACT_VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/

export function isExactVersion(text: string): boolean {
  return EXACT_VERSION.test(text)
}

/** null if none of them is a version. */
export function highestVersion(versions: readonly string[]): string | null {
  return fromHighest(versions)[0] ?? null
}

/** The last few that are no prereleases, the newest first. */
export function newestReleases(versions: readonly string[], count: number): string[] {
  return fromHighest(versions.filter((version) => !version.includes('-'))).slice(0, count)
}

function fromHighest(versions: readonly string[]): string[] {
  return versions.filter(isExactVersion).sort((a, b) => compareVersions(b, a))
}

/** The order of semver.org, 11. */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [partsOf(a), partsOf(b)]
  const byRelease = compareFields(x.release, y.release)
  if (byRelease !== 0 || x.prerelease === y.prerelease) return byRelease
  if (x.prerelease === null) return 1
  if (y.prerelease === null) return -1
  return compareFields(x.prerelease, y.prerelease)
}

function partsOf(version: string): { release: string; prerelease: string | null } {
  const dash = version.indexOf('-')
  if (dash < 0) return { release: version, prerelease: null }
  return { release: version.slice(0, dash), prerelease: version.slice(dash + 1) }
}

/** Field by field; of two that are equal as far as they go the longer one is higher. */
function compareFields(a: string, b: string): number {
  const [x, y] = [a.split('.'), b.split('.')]
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const order = compareField(x[i]!, y[i]!)
    if (order !== 0) return order
  }
  return x.length - y.length
}

/** Numbers by their value and below words. */
function compareField(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (aIsNumber && bIsNumber) return Number(a) - Number(b)
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1
  return a < b ? -1 : Number(a > b)
}
