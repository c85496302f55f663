import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assay, copyFixture, temporaryFolder } from '../support/assay.ts'

/** A registry that is not there, so that no runtime can be installed. */
const OFFLINE = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0', npm_config_cache: '' }

function projectWithoutRuntimes(): string {
  const folder = temporaryFolder('offline')
  copyFixture('onnx-cases/test_abs', join(folder, 'test_abs'))
  return folder
}

describe('a target that is not available', () => {
  test('is a skip with its reason when nobody asked for it', async () => {
    const folder = projectWithoutRuntimes()
    const ran = await assay(['test', 'test_abs'], folder, { ...OFFLINE, npm_config_cache: join(folder, 'cache') })
    expect(ran.stdout).toContain('1 skipped: ort-web:wasm is not available')
    expect(ran.code).toBe(5)
  })

  test('is an error when it was named', async () => {
    const folder = projectWithoutRuntimes()
    const env = { ...OFFLINE, npm_config_cache: join(folder, 'cache') }
    const ran = await assay(['test', 'test_abs', '--target', 'ort-web:wasm'], folder, env)
    expect(ran.stdout).toContain('discover on the target: ort-web:wasm is not available')
    expect(ran.code).toBe(1)
  })
})
