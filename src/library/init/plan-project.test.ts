import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { chosenConfig } from '../config/config-file.ts'
import { linkPackage } from '../testing/project.ts'
import { readCi } from './ci-text.ts'
import { type ProjectChoices, planProject, shownPath } from './plan-project.ts'
import { checkFolder, suggestedModels } from './project-facts.ts'

let folders: string[] = []
afterEach(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  folders = []
})

function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay init '))
  folders.push(folder)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

function plan(folder: string, choices: Partial<ProjectChoices> = {}) {
  const usual = { models: ['models/**/*.onnx'], targets: ['ort-web:wasm'], ci: 'github', sample: undefined } as const
  const { files, existing, unread } = planProject({ folder, ...usual, ...choices })
  const contents = new Map(files.map(({ path, content }) => [shownPath(path, folder), content]))
  return { names: [...contents.keys()], text: (name: string) => String(contents.get(name)), existing, unread }
}

describe('the sample model', () => {
  test.each([
    [['models/**/*.onnx'], 'models/sample.onnx', []],
    [['nets'], 'nets/sample.onnx', []],
    [['*.onnx'], 'sample.onnx', []],
    [['nets/v?-*.onnx'], 'nets/sample.onnx', ['nets/sample.onnx']],
    [['../elsewhere/*.onnx'], 'models/sample.onnx', ['models/sample.onnx']],
    [['/srv/models'], 'models/sample.onnx', ['models/sample.onnx']],
  ])('for %j lies in %s', (models, place, added) => {
    const { names, text } = plan(folderWith(), { models })
    expect(names).toContain(place)
    expect(text('assay.config.ts')).toContain(
      `models: [${[...models, ...added].map((word) => `'${word}'`).join(', ')}]`,
    )
  })

  test('is not made where there are models, unless it is asked for', () => {
    const folder = folderWith({ 'models/mine.onnx': '' })
    expect(plan(folder).names).not.toContain('models/sample.onnx')
    expect(plan(folder, { sample: true }).names).toContain('models/sample.onnx')
    expect(plan(folderWith(), { sample: false }).names).not.toContain('models/sample.onnx')
  })
})

describe('the configuration', () => {
  test.each(["it's/*.onnx", 'a"b\\c/*.onnx', 'line\u2028end/*.onnx', 'new\nline/*.onnx', '$x`/*.onnx'])(
    'keeps the name %j',
    async (glob) => {
      const folder = folderWith()
      linkPackage(folder)
      writeFileSync(
        join(folder, 'assay.config.ts'),
        plan(folder, { models: [glob], sample: false }).text('assay.config.ts'),
      )
      expect((await chosenConfig({}, {}, folder)).config).toMatchObject({ models: [glob], target: ['ort-web:wasm'] })
    },
  )

  test.each(['{ "type": "commonjs" }', '{ "type": "module" }', '{}'])(
    'loads beside the package.json %s',
    async (manifest) => {
      const folder = folderWith({ 'package.json': manifest })
      linkPackage(folder)
      writeFileSync(join(folder, 'assay.config.ts'), plan(folder).text('assay.config.ts'))
      expect((await chosenConfig({}, {}, folder)).config.models).toEqual(['models/**/*.onnx'])
    },
  )
})

describe('the CI file', () => {
  test.each([
    [{}, [expect.stringMatching(/^npx --yes assay@\d+\.\d+\.\d+ run$/)]],
    [{ 'package.json': '{ "devDependencies": { "assay": "1" } }' }, ['npm install --no-package-lock', 'npx assay run']],
    [
      { 'package.json': '{ "devDependencies": { "assay": "1" } }', 'package-lock.json': '{}' },
      ['npm ci', 'npx assay run'],
    ],
    [{ 'package.json': '{}', 'package-lock.json': '' }, ['npm ci', expect.stringMatching(/^npx --yes assay@/)]],
  ])('installs what there is: %j', (files, commands) => {
    const { jobs } = parse(plan(folderWith(files)).text('.github/workflows/assay.yml'))
    const steps: { run?: string; uses?: string }[] = jobs.assay.steps
    expect(steps.flatMap(({ run }) => (run ? [run] : []))).toEqual(commands)
    expect(steps.flatMap(({ uses }) => (uses ? [uses.replace(/@v\d+$/, '')] : []))).toEqual([
      'actions/checkout',
      'actions/setup-node',
      'actions/upload-artifact',
    ])
    expect(steps.at(-1)).toMatchObject({ with: { path: '.assay/runs', 'include-hidden-files': true } })
  })

  test("lies at the repository's root and works in the project's folder", () => {
    const root = folderWith({ '.git/HEAD': '', "it's here/x": '' })
    const folder = join(root, "it's here")
    const path = '../.github/workflows/assay.yml'
    const { jobs } = parse(plan(folder).text(path))
    expect(jobs.assay.defaults.run['working-directory']).toBe("it's here")
    expect(jobs.assay.steps.at(-1).with.path).toBe("it's here/.assay/runs")
    const { assay } = parse(plan(folder, { ci: 'gitlab' }).text('../.gitlab-ci.yml'))
    expect(assay.script[0]).toBe(`cd 'it'\\''s here'`)
    expect(assay.artifacts.reports.junit).toBe("it's here/assay-report.xml")
  })
})

describe('what is there already', () => {
  test('is named, also a link that leads nowhere and other configurations', () => {
    const folder = folderWith({ 'assay.config.yaml': '' })
    mkdirSync(join(folder, 'models'))
    symlinkSync('/nowhere/at/all', join(folder, 'models/sample.onnx'))
    const { existing, unread } = plan(folder)
    expect(existing).toEqual([join(folder, 'models/sample.onnx'), join(folder, 'assay.config.yaml')])
    expect(unread).toEqual([join(folder, 'assay.config.yaml')])
  })

  test.each([
    ['node_modules\n', 'node_modules\n.assay/\n'],
    ['node_modules', 'node_modules\n.assay/\n'],
    ['', '.assay/\n'],
  ])('.gitignore %j becomes %j', (before, after) => {
    const folder = folderWith({ '.git/HEAD': '', '.gitignore': before })
    expect(before + plan(folder).text('.gitignore')).toBe(after)
  })

  test.each(['.assay\n', '/.assay/\n', 'a\r\n.assay/\r\nb'])('.gitignore %j is left alone', (text) => {
    expect(plan(folderWith({ '.git/HEAD': '', '.gitignore': text })).names).not.toContain('.gitignore')
    expect(plan(folderWith({ '.gitignore': 'x' })).names).not.toContain('.gitignore')
  })
})

describe('models', () => {
  test('that are mistyped are refused with a suggestion', () => {
    const folder = folderWith({ 'models/a.onnx': '' })
    expect(() => plan(folder, { models: ['modles/*.onnx'] })).toThrow('did you mean "models"?')
    expect(() => plan(folder, { models: ['models/b.onxx.onnx'] })).toThrow('no file "models/b.onxx.onnx"')
    expect(() => plan(folder, { models: [' '] })).toThrow('--models is empty')
    expect(() => checkFolder(join(folder, 'models/a.onnx/x/y'))).toThrow('a.onnx" is a file; give a folder')
    expect(() => checkFolder(join(folder, 'new/x'))).not.toThrow()
  })

  test('that lie elsewhere are found', () => {
    expect(suggestedModels(folderWith())).toEqual(['models/**/*.onnx'])
    expect(suggestedModels(folderWith({ 'models/a.onnx': '', 'b.onnx': '' }))).toEqual(['models/**/*.onnx'])
    expect(suggestedModels(folderWith({ 'assets/deep/a.onnx': '', 'b.onnx': '', 'node_modules/c.onnx': '' }))).toEqual([
      'assets/**/*.onnx',
      '*.onnx',
    ])
  })
})

test.each([
  ['githb', 'unknown --ci "githb"; did you mean "github"?'],
  ['jenkins', 'unknown --ci "jenkins"; known: github, gitlab, none'],
])('the CI %s is refused', (word, message) => {
  expect(() => readCi(word)).toThrow(message)
  expect(readCi('gitlab')).toBe('gitlab')
})
