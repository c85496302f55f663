import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { folderWith } from '../testing/project.ts'
import type { PlannedFile, ProjectPlan } from './plan-project.ts'
import { refuseExisting, writeProject } from './write-project.ts'

const planOf = (files: readonly PlannedFile[], existing: readonly string[] = []): ProjectPlan => ({
  files,
  existing,
  unread: [],
})

test('files are written with the folders that they need, and added to where that is planned', async () => {
  const folder = folderWith({ '.gitignore': 'dist\n' })
  await writeProject(
    planOf([
      { path: join(folder, 'models/sample.onnx'), content: Uint8Array.of(1), what: 'a model' },
      { path: join(folder, '.gitignore'), content: '.assay\n', what: 'ignored', appends: true },
    ]),
    false,
  )
  expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('dist\n.assay\n')
  expect(existsSync(join(folder, 'models/sample.onnx'))).toBe(true)
})

test('what is there is replaced only by force', async () => {
  const folder = folderWith({ 'assay.config.ts': 'mine' })
  const path = join(folder, 'assay.config.ts')
  const plan = planOf([{ path, content: 'new', what: 'the configuration' }], [path])
  await expect(writeProject(plan, false)).rejects.toThrow('assay.config.ts')
  expect(readFileSync(path, 'utf8')).toBe('mine')
  await writeProject(plan, true)
  expect(readFileSync(path, 'utf8')).toBe('new')
})

test('what would be replaced is named before anything is written', () => {
  const shown = (path: string) => relative('/p', path)
  expect(() => refuseExisting(planOf([]), shown)).not.toThrow()
  expect(() => refuseExisting(planOf([], ['/p/a']), shown)).toThrow(
    'a exists already, so nothing was written; --force overwrites',
  )
  expect(() => refuseExisting(planOf([], ['/p/a', '/p/b']), shown)).toThrow('a, b exist already')
})
