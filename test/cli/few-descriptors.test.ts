import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { main, project } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

describe.skipIf(process.platform === 'win32')('a process that may open few files', () => {
  const folder = project({ 'm.onnx': affineModel() })

  test.each([22, 26, 28, 30, 32])('%i of them', (count) => {
    const line = `ulimit -n ${count}; exec "$0" "$1" test m.onnx --scope full --target ort-web:wasm`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', line, process.execPath, main], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(stderr).not.toMatch(/bug in Assay|Unhandled/)
    expect([0, 1, 4], stderr).toContain(status)
    if (status !== 0) expect(stdout + stderr).toContain('ulimit -n 1024')
  })
})
