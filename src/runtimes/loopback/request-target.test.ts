import { expect, test } from 'vitest'
import { readTarget } from './request-target.ts'

test.each([
  ['/', '/', ''],
  ['/a/../b', '/a/../b', ''],
  ['/%2e%2e?x=%20', '/%2e%2e', 'x=+'],
  ['/a?b=1&b=2', '/a', 'b=1&b=2'],
  ['/a#b?c=1', '/a#b', 'c=1'],
  [undefined, '/', ''],
])('of %s, the path is %s and the query %s', (url, path, query) => {
  const target = readTarget(url === undefined ? {} : { url })
  expect([target.path, target.query.toString()]).toEqual([path, query])
})
