import { expect, test } from 'vitest'
import { inheritedEnvironment } from './inherited-environment.ts'

test('a program gets the base and what is named, and no secret', () => {
  const environment = {
    PATH: '/bin',
    LC_ALL: 'C',
    MYCC_HOME: '/opt/mycc',
    AWS_SECRET_ACCESS_KEY: 'hidden',
    GITHUB_TOKEN: 'hidden',
    NODE_OPTIONS: '--require ./x.js',
  }
  expect(inheritedEnvironment(environment, [])).toEqual({ PATH: '/bin', LC_ALL: 'C' })
  expect(inheritedEnvironment(environment, ['MYCC_HOME', 'NOT_SET'])).toEqual({
    PATH: '/bin',
    LC_ALL: 'C',
    MYCC_HOME: '/opt/mycc',
  })
})
