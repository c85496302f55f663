import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { identity } from '../conformance/models.ts'
import { assay, assayJson, ended, project, root, startAssay } from '../support/assay.ts'
import { until } from '../support/events.ts'
import { survivorsOf } from '../support/survivors.ts'

const WORKER = join(root, 'test/workers/told-worker.mjs')
const command = (how: string, more = '') => `mine=command:${process.execPath},arg=${WORKER},arg=${how}${more}`
const SECRET = 'hunter2-do-not-tell'

function newProject(files: Record<string, string> = {}): string {
  return project({ 'model.onnx': identity('float32'), ...files })
}

/** What the worker tells of itself, as the record has it. */
async function told(folder: string, target: string, env = {}) {
  const report = await assayJson(['test', 'model.onnx', '--target', target], folder, env)
  expect(report.results[0]?.verdict, report.stderr).toBe('pass')
  const { measurements } = report.results[0]!
  return { ...report, of: (key: string) => String(measurements[`target.${key}`]) }
}

describe('the program of a command target', () => {
  test('gets the variables of the base and those that are named, and no secret reaches it or the record', async () => {
    const env = { AWS_SECRET_ACCESS_KEY: SECRET, GITHUB_TOKEN_X: SECRET, MYCC_HOME: '/opt/mycc', LC_TIME: 'C' }
    const folder = newProject()
    const { of } = await told(folder, command('tells', ',env=MYCC_HOME'), env)
    const variables = Object.fromEntries(JSON.parse(of('variables')))
    expect(variables).toMatchObject({ MYCC_HOME: '/opt/mycc', LC_TIME: 'C', PATH: expect.stringMatching(/./) })
    expect([variables.AWS_SECRET_ACCESS_KEY, variables.GITHUB_TOKEN_X]).toEqual([null, null])
    const files = readdirSync(join(folder, '.assay'), { withFileTypes: true, recursive: true }).filter((f) =>
      f.isFile(),
    )
    expect(files.length).toBeGreaterThan(1)
    for (const { parentPath, name } of files) {
      expect(readFileSync(join(parentPath, name)).includes(SECRET), name).toBe(false)
    }
  })

  test.each(['=', ',arg='])(
    'a secret among its arguments, after "%s", is in no report, record or command line',
    async (between) => {
      const folder = newProject()
      const code = 'console.error(process.argv.join()),process.exit(3)'.replaceAll(',', ';')
      const target = `command:${process.execPath},arg=-e,arg=${code},arg=--,arg=--token${between}${SECRET}`
      const reporters = ['--reporter', 'terminal', '--reporter', 'junit:junit.xml', '--reporter', 'json:report.json']
      const {
        code: exit,
        stdout,
        stderr,
      } = await assay(['test', 'model.onnx', '--target', target, ...reporters], folder)
      expect([exit, stdout]).toEqual([1, expect.stringContaining(`--token${between}***`)])
      const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((f) => f.isFile())
      expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['junit.xml', 'report.json', 'run.json']))
      const texts = files.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'utf8')])
      const leaks = [['stdout', stdout], ['stderr', stderr], ...texts].filter(([, text]) => text!.includes(SECRET))
      expect(leaks.map(([name]) => name)).toEqual([])
    },
  )

  test('a secret among its arguments reaches it, and its case is found by the shown id', async () => {
    const folder = newProject()
    const target = command('tells', `,arg=--token=${SECRET}`).replace('mine=', '')
    const { results, of } = await told(folder, target)
    expect(results[0]!.id).toMatch(/,arg=--token=\*\*\*$/)
    expect(JSON.parse(of('options')).arg).toContain(`--token=${SECRET}`)
    const shown = `^${results[0]!.id.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`
    expect(results[0]!.reproduce).toContain('--token=***')
    const again = await assayJson(['test', 'model.onnx', '--target', target, '-t', shown], folder)
    expect(again.results).toHaveLength(1)
  })

  test('a named variable that is not set is told once', async () => {
    const { stderr } = await told(newProject(), command('tells', ',env=NOT_SET_HERE'))
    expect(stderr.match(/mine names the variable NOT_SET_HERE, which is not set/g)).toHaveLength(1)
  })

  test('works in the project, or in the folder that is named', async () => {
    const folder = newProject()
    mkdirSync(join(folder, 'tools'))
    expect((await told(folder, command('tells'))).of('folder')).toBe(realpathSync(folder))
    expect((await told(folder, command('tells', ',cwd=tools'))).of('folder')).toBe(realpathSync(join(folder, 'tools')))
  })

  test('is told the name of its chip, and the file that describes it', async () => {
    const folder = newProject({ 'chips/a.json': '{"cores": 4}' })
    const { of, results } = await told(folder, command('tells', ',chip=chips/a.json,hw=sim'))
    expect(results[0]!.id).toBe('model/full_model@mine')
    expect(JSON.parse(of('options'))).toMatchObject({ chip: 'a', hw: 'sim' })
    expect(JSON.parse(of('files'))).toEqual({ chip: { path: join(folder, 'chips/a.json'), content: { cores: 4 } } })
  })

  test('may print without end on stderr', async () => {
    await told(newProject(), command('floods'))
  })

  test.each([
    ['start', 'discover', 'the worker did not start within 700 ms'],
    ['compile', 'compile', 'the worker did not open the model within 700 ms'],
    ['run', 'run', 'the worker did not run the model within 700 ms'],
  ])('has a limit for %s of its own, after which its process group is gone', async (stage, at, words) => {
    const folder = newProject()
    const mark = `limit ${folder}`
    const target = command(stage, `,${stage}=700ms,env=MARK`)
    const child = startAssay(['test', 'model.onnx', '--target', target, '--json'], folder, { MARK: mark })
    const { stdout, code } = await ended(child)
    expect(JSON.parse(stdout).results[0].error).toMatchObject({ stage: at, message: expect.stringContaining(words) })
    expect(code).toBe(1)
    await until(() => survivorsOf(mark).length === 0, 'its process group is gone')
  })
})

describe('a command target that cannot work', () => {
  const folder = newProject({ 'runner.py': 'print()' })
  writeFileSync(join(folder, 'runner'), '#!/bin/sh\n', { mode: 0o755 })

  test.each([
    ['command:./runer', `cannot start ./runer: there is no file ${folder}/runer; did you mean runner?`],
    ['command:./runner.py', `${folder}/runner.py is not executable; run chmod +x, or start it with its interpreter`],
    ['command:no-such-program-x', 'cannot start no-such-program-x: no program of this name in PATH'],
    ['command:./runner,cwd=nowhere', `the working folder ${folder}/nowhere does not exist (cwd=nowhere)`],
  ])('%s is an error that says what was looked for', async (target, words) => {
    const { results, code } = await assayJson(['test', 'model.onnx', '--target', target], folder)
    expect(results[0]!.error).toMatchObject({ stage: 'discover', message: expect.stringContaining(words) })
    expect(code).toBe(1)
  })

  test.each([
    [
      'command:./runner,run=soon',
      'run=soon in target "command:./runner,run=soon"; expected a time such as 20s or 5min',
    ],
    ['command:./runner,start=0', 'expected a time such as 20s or 5min'],
    ['command:./runner,env=KEY=hunter2', 'has a variable with its value; expected only a name, as in env=KEY'],
    ['command:./runner,env=A-B', 'has "A-B"; expected only a name, as in env=NAME'],
    ['command:./runner,cpu=1', 'unknown key "cpu" in target'],
    ['command:./runner,chip=chips/a.json', 'there is no file chips/a.json, nor a folder chips'],
  ])('%s is refused (exit 4)', async (target, words) => {
    const { code, stderr } = await assay(['test', 'model.onnx', '--target', target], folder)
    expect(stderr.replace(/\s+/g, ' ')).toContain(words)
    expect(stderr).not.toContain('hunter2')
    expect(code).toBe(4)
  })
})
