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

test('a beginning names many, but none that looks like a secret; that must be named itself', () => {
  const environment = { NVIDIA_VISIBLE_DEVICES: '0', NVIDIA_API_KEY: 'hidden', NVIDIA: 'x', HF_TOKEN: 'hidden' }
  expect(inheritedEnvironment(environment, ['NVIDIA_*'])).toEqual({ NVIDIA_VISIBLE_DEVICES: '0' })
  expect(inheritedEnvironment(environment, ['NVIDIA_*', 'HF_TOKEN'])).toMatchObject({ HF_TOKEN: 'hidden' })
})
