import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { builtFile, ownFile, ownManifest } from './own-files.ts'

test('what comes with the package is found from source', () => {
  expect(existsSync(ownFile('workers/ssh/board.sh'))).toBe(true)
  expect(builtFile('files/parallel/work-thread.js')).toBe(ownFile('dist/files/parallel/work-thread.js'))
  expect(ownManifest().name).toBe('assay')
})

test('a package.json of somebody else on the way is passed by, and a space in the path does no harm', () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'assay-own-')), 'some project')
  const deep = join(folder, 'node_modules/assay/dist/deep')
  mkdirSync(deep, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"name":"some-project"}')
  writeFileSync(join(folder, 'node_modules/assay/package.json'), '{"name":"assay","type":"module"}')
  writeFileSync(join(deep, 'package.json'), '{"name":"deep","type":"module"}')
  cpSync(ownFile('dist.modules/files/disk/own-files.js'), join(deep, 'own-files.js'))
  const script = `import { builtFile } from ${JSON.stringify(pathToFileURL(join(deep, 'own-files.js')).href)}
    process.stdout.write(builtFile('index.js'))`
  const found = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(found).toBe(join(folder, 'node_modules/assay/dist/index.js'))
})
