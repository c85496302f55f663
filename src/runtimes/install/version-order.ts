import coerce from 'semver/functions/coerce.js'
import compare from 'semver/functions/compare.js'
import parse from 'semver/functions/parse.js'
import valid from 'semver/functions/valid.js'

/** One version as npm writes it: no range, no tag, nothing that a person would have to fill in. */
export function isExactVersion(text: string): boolean {
  return valid(text) === text
}

/** null if none of them is a version. */
export function highestVersion(versions: readonly string[]): string | null {
  return fromHighest(versions)[0] ?? null
}

/** The last few that are not prereleases, the newest first. */
export function newestReleases(versions: readonly string[], count: number): string[] {
  return fromHighest(versions.filter((version) => !version.includes('-'))).slice(0, count)
}

function fromHighest(versions: readonly string[]): string[] {
  return versions.filter(isExactVersion).sort((a, b) => compare(b, a))
}

/** Also of versions that npm would not write, such as Python's `3.14.0rc1`. */
export function compareVersions(a: string, b: string): number {
  return compare(readVersion(a), readVersion(b))
}

function readVersion(text: string) {
  return parse(text, { loose: true }) ?? coerce(text) ?? '0.0.0'
}
