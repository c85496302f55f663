import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installPackage } from '../../src/runtimes/install/install.ts'
import { project, temporaryFolder } from '../support/assay.ts'

/** A package that leaves a file behind when npm runs its script. */
function packedPackage(trace: string): string {
  const install = `node -e "require('fs').writeFileSync(process.env.TRACE, '')"`
  const folder = project({ 'package.json': JSON.stringify({ name: 'evil', version: '1.0.0', scripts: { install } }) })
  execFileSync('npm', ['pack', '--silent'], { cwd: folder, env: { ...process.env, TRACE: trace } })
  return `file:${join(folder, 'evil-1.0.0.tgz')}`
}

test('the scripts of a package that is installed are not run', async () => {
  const trace = join(temporaryFolder('trace'), 'ran')
  const packed = packedPackage(trace)
  const home = join(temporaryFolder('runtimes'), 'evil@1.0.0')
  const environment = { ...process.env, TRACE: trace, npm_config_ignore_scripts: 'false' }
  await installPackage('evil', packed, home, { environment, notice: () => {} })
  expect(readdirSync(join(home, 'node_modules'))).toContain('evil')
  expect(existsSync(trace)).toBe(false)

  const args = ['install', '--no-audit', '--no-fund', '--offline', packed.slice('file:'.length)]
  execFileSync('npm', args, { cwd: project({ 'package.json': '{}' }), env: environment })
  expect(existsSync(trace)).toBe(true)
})
