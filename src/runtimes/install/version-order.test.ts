import { describe, expect, test } from 'vitest'
import { compareVersions, highestVersion, isExactVersion, newestReleases } from './version-order.ts'

describe('the order of versions', () => {
  test.each([
    ['numbers count by their value', ['1.9.0', '1.30.0', '1.4.10'], '1.30.0'],
    ['the first difference decides', ['1.99.99', '2.0.0'], '2.0.0'],
    ['a prerelease is below its release', ['1.22.0', '1.22.0-rev'], '1.22.0'],
    ['and above the release before', ['1.22.0-rev', '1.21.9'], '1.22.0-rev'],
    ['prereleases by their fields', ['1.0.0-dev.9', '1.0.0-dev.20260114-c3', '1.0.0-dev.10'], '1.0.0-dev.20260114-c3'],
    ['a field that is a number is below a word', ['1.0.0-1', '1.0.0-alpha'], '1.0.0-alpha'],
    ['more fields are higher', ['1.0.0-alpha', '1.0.0-alpha.0'], '1.0.0-alpha.0'],
    ['a dash in a prerelease belongs to it', ['1.0.0-a-b', '1.0.0-a'], '1.0.0-a-b'],
    ['what is no version does not count', ['latest', '9.9', '../../9.9.9', '1.0.0'], '1.0.0'],
  ])('%s', (_, versions, highest) => {
    expect(highestVersion(versions)).toBe(highest)
    expect(highestVersion(versions.toReversed())).toBe(highest)
  })

  test('of nothing there is no highest', () => {
    expect(highestVersion([])).toBeNull()
    expect(highestVersion(['latest'])).toBeNull()
  })

  test('the newest releases come first, without prereleases', () => {
    const versions = ['1.9.0', '1.31.0-dev.1', '1.30.0', '1.27.0', '1.29.0']
    expect(newestReleases(versions, 3)).toEqual(['1.30.0', '1.29.0', '1.27.0'])
  })

  test.each(['1.30', '1', 'latest', 'v1.30.0', '1.30.0+build', '1.30.0-', '1.30.0/..', '1.30.0\n'])(
    '%j is not exact',
    (text) => {
      expect(isExactVersion(text)).toBe(false)
    },
  )
})

test.each([
  ['3.14.0rc1', '3.13.9', 1],
  ['3.14.0rc1', '3.14.0', -1],
  ['3.13.0+', '3.13.0', 0],
  ['1.30.0-dev.1', '1.30.0', -1],
])('%s beside %s: %i', (a, b, order) => {
  expect(compareVersions(a, b)).toBe(order)
})
