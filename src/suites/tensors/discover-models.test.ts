import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { discoverModels, type LeftOut, refuseMissing } from './discover-models.ts'

function folderWith(...files: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-discover-'))
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), '')
  }
  return folder
}

const link = (path: string, to: string, cwd: string) => symlinkSync(to, join(cwd, path))

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

  test('without paths, models below tests/testdata/onnx_models are found too', () => {
    const cwd = folderWith('tests/testdata/onnx_models/example-matmul.onnx', 'tests/testdata/other.onnx')
    expect(names([], cwd)).toEqual(['example-matmul'])
    const both = folderWith('models/a.onnx', 'tests/testdata/onnx_models/b.onnx')
    expect([names([], both), names(['models'], both)]).toEqual([['a', 'b'], ['a']])
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

  test('a linked model is found under the name of its link', () => {
    const cwd = folderWith('zoo/a.onnx', 'elsewhere/b.onnx')
    symlinkSync(join(cwd, 'elsewhere/b.onnx'), join(cwd, 'zoo/c.onnx'))
    expect(names(['zoo'], cwd)).toEqual(['a', 'c'])
  })

  test('linked folders are followed once, and only where nothing else leads there', () => {
    const cwd = folderWith('zoo/a.onnx', 'zoo/real/b.onnx', 'elsewhere/deep/c.onnx', 'zoo/node_modules/d.onnx')
    link('zoo/again', '.', cwd)
    link('zoo/alias', 'real', cwd)
    link('zoo/first', '../elsewhere/deep', cwd)
    link('zoo/second', '../elsewhere', cwd)
    link('zoo/real/node_modules', '../../elsewhere', cwd)
    link('elsewhere/deep/up', '..', cwd)
    expect(names(['zoo'], cwd)).toEqual(['a', 'real/b', 'first/c'])
    expect(names(['zoo/**/*.onnx', 'elsewhere'], cwd)).toEqual(['a', 'real/b', 'first/c'])
  })

  test('a linked data set is one of the standard layout', () => {
    const cwd = folderWith('case/model.onnx', 'kept/input_0.pb')
    link('case/test_data_set_0', '../kept', cwd)
    expect(discoverModels(['case'], cwd)).toMatchObject([
      { name: 'case', dataSets: [join(cwd, 'case/test_data_set_0')] },
    ])
  })

  test('a link that leads nowhere is a model if it is named like one, and is left out with a word if not', () => {
    const cwd = folderWith('zoo/a.onnx')
    link('zoo/loop', 'loop', cwd)
    link('zoo/gone', '/mnt/gone', cwd)
    link('zoo/b.onnx', 'nowhere.onnx', cwd)
    link('zoo/.#a.onnx', 'somebody@here:1', cwd)
    const leftOut: LeftOut[] = []
    expect(discoverModels(['zoo'], cwd, { leftOut }).map(({ name }) => name)).toEqual(['a', 'b'])
    expect(leftOut).toEqual([
      { path: join(cwd, 'zoo/gone'), why: 'is a link to /mnt/gone, which does not exist' },
      { path: join(cwd, 'zoo/loop'), why: 'is a link that points back to itself' },
    ])
  })

  test('a folder without permission is left out with a word, and refused where it was named', ({
    skip,
    onTestFinished,
  }) => {
    skip(process.getuid?.() === 0, 'root may read everything')
    const cwd = folderWith('zoo/a.onnx', 'zoo/locked/b.onnx', 'shut.onnx')
    chmodSync(join(cwd, 'zoo/locked'), 0)
    onTestFinished(() => chmodSync(join(cwd, 'zoo/locked'), 0o700))
    chmodSync(join(cwd, 'shut.onnx'), 0)
    const leftOut: LeftOut[] = []
    expect(discoverModels(['zoo'], cwd, { leftOut }).map(({ name }) => name)).toEqual(['a'])
    const why = 'cannot be read; fix its permissions'
    expect(leftOut).toEqual([{ path: join(cwd, 'zoo/locked'), why }])
    for (const path of ['zoo/locked', 'zoo/locked/b.onnx', 'shut.onnx']) {
      expect(() => refuseMissing([path], cwd)).toThrow(`"${path}" ${why}`)
    }
    expect(() => refuseMissing(['zoo/locked/*.onnx'], cwd)).toThrow(`"zoo/locked" ${why}`)
  })

  test('a link that leads nowhere is refused where it was named', () => {
    const cwd = folderWith()
    link('loop.onnx', 'loop.onnx', cwd)
    link('gone.onnx', 'nowhere.onnx', cwd)
    expect(() => refuseMissing(['loop.onnx'], cwd)).toThrow('"loop.onnx" is a link that points back to itself')
    const gone = '"gone.onnx" is a link to nowhere.onnx, which does not exist'
    expect(() => refuseMissing(['gone.onnx'], cwd)).toThrow(gone)
    expect(() => discoverModels(['gone.onnx'], cwd)).toThrow(gone)
  })

  test('a path that is not there is refused by name', () => {
    expect(() => discoverModels(['nowhere.onnx'], folderWith())).toThrow(/no file or folder "nowhere.onnx"/)
  })
})
