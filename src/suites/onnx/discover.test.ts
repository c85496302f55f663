import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { discoverModels } from './discover.ts'

function folderWith(...files: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-discover-'))
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), '')
  }
  return folder
}

const names = (paths: string[], cwd: string) => discoverModels(paths, cwd).map((model) => model.name)

describe('discovery', () => {
  test('a file is named without its folder, a folder’s files by their path below it', () => {
    const cwd = folderWith('zoo/vision/det.onnx', 'zoo/cls.onnx', 'zoo/notes.txt', 'zoo/node_modules/x/y.onnx')
    expect(names(['zoo/vision/det.onnx'], cwd)).toEqual(['det'])
    expect(names(['zoo'], cwd)).toEqual(['cls', 'vision/det'])
    expect(names(['zoo/**/*.onnx'], cwd)).toEqual(['cls', 'vision/det'])
  })

  test('without paths, models below models/ are found', () => {
    const cwd = folderWith('models/a/b.onnx', 'c.onnx')
    expect(names([], cwd)).toEqual(['a/b'])
  })

  test('the standard layout is named by its folder and its data sets are numbered in order', () => {
    const sets = [10, 9, 0].map((i) => `cases/test_abs/test_data_set_${i}/input_0.pb`)
    const cwd = folderWith('cases/test_abs/model.onnx', ...sets)
    const [model] = discoverModels(['cases'], cwd)
    expect(model?.name).toBe('test_abs')
    expect(model?.dataSets.map((path) => path.split('_').at(-1))).toEqual(['0', '9', '10'])
  })

  test('two models that would have one name are told apart by their path from the current folder', () => {
    const cwd = folderWith('a/det.onnx', 'b/det.onnx')
    expect(names(['a/det.onnx', 'b/det.onnx'], cwd)).toEqual(['a/det', 'b/det'])
  })

  test('a linked model is found; a broken link and a linked folder are passed over', () => {
    const cwd = folderWith('zoo/a.onnx', 'elsewhere/b.onnx')
    symlinkSync(join(cwd, 'elsewhere/b.onnx'), join(cwd, 'zoo/b.onnx'))
    symlinkSync(join(cwd, 'nowhere.onnx'), join(cwd, 'zoo/c.onnx'))
    symlinkSync(join(cwd, 'elsewhere'), join(cwd, 'zoo/folder'))
    expect(names(['zoo'], cwd)).toEqual(['a', 'b'])
  })

  test('a path that is not there is refused by name', () => {
    expect(() => discoverModels(['nowhere.onnx'], folderWith())).toThrow(/no file or folder "nowhere.onnx"/)
  })
})
