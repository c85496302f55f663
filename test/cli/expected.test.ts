import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readRun } from '../../src/runs/record/read-run.ts'
import { assay, assayJson, type JsonReport, project } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

const FILE = 'assay.expected.yaml'
const OFF = 'off=ort:cpu,model=off.onnx'

/** `good` passes, `faulty` has another scale on the target, `broken` is no model. */
function sample(expected?: string): string {
  return project({
    'models/faulty.onnx': affineModel(),
    'models/good.onnx': affineModel(2.5),
    'models/broken.onnx': 'no model',
    'off.onnx': affineModel(2.5),
    ...(expected === undefined ? {} : { [FILE]: expected }),
  })
}

const args = (...more: string[]) => ['test', 'models', '--target', OFF, ...more]
const said = ({ results }: JsonReport) => results.map(({ id, verdict }) => `${id.split('/')[0]} ${verdict}`)
const read = (folder: string) => readFileSync(join(folder, FILE), 'utf8')
const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

const KNOWN = `- id: faulty/full_model@off
  verdict: fail
- id: broken/*
  verdict: error
  stage: import
  error: expected an ONNX model
`

describe('an expected failure', () => {
  test('that still fails is xfail: exit 0, and everything agrees', async () => {
    const folder = sample(KNOWN)
    const reporters = ['terminal', 'json:out.json', 'junit:out.xml'].flatMap((name) => ['--reporter', name])
    const { code, stdout, stderr } = await assay(args(...reporters), folder)
    expect(code, stderr).toBe(0)
    expect(stdout).toContain(
      'expected failures: 2\n  x broken/full_model@off  error at import  assay.expected.yaml:3\n',
    )
    expect(stdout).toMatch(/^1 passed, 2 xfailed in /m)
    expect(stdout).not.toMatch(/FAIL|ERROR/)
    const report = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8')) as JsonReport
    expect(said(report)).toEqual(['broken xfail', 'faulty xfail', 'good pass'])
    expect(report.summary).toMatchObject({ counts: { pass: 1, xfail: 2, fail: 0, error: 0 }, exitCode: 0 })
    const [broken, faulty] = report.results
    expect(broken).toMatchObject({
      error: { stage: 'import' },
      expected: { outcome: 'met', found: { verdict: 'error' } },
    })
    expect(faulty!.outputs[0]!.worst.length).toBeGreaterThan(0)
    const stored = await readRun(join(folder, '.assay/runs', report.run.id))
    expect(said({ ...report, results: stored.results })).toEqual(said(report))
    expect(stored.results.map(({ expected }) => expected)).toEqual(report.results.map(({ expected }) => expected))
    const xml = readFileSync(join(folder, 'out.xml'), 'utf8')
    expect(xml).toMatch(/<testsuites[^>]* tests="3" failures="0" errors="0" skipped="2"/)
    expect(xml).toContain('<property name="expected.place" value="assay.expected.yaml:1"/>')
  })

  test('that passes is xpass: exit 1, with the line to remove', async () => {
    const folder = sample(`${KNOWN}- id: good/full_model@off\n  verdict: fail\n`)
    const { code, stdout } = await assay(args(), folder)
    expect(code).toBe(1)
    expect(stdout).toMatch(/X XPASS {2}good\/full_model@off/)
    expect(stdout).toContain('expected fail, but it passes: remove the entry assay.expected.yaml:7')
  })

  test.each([
    [
      'verdict: error\n  stage: compile',
      'expected: error at compile; found: fail at compare (assay.expected.yaml:1)',
      'faulty',
    ],
    [
      'verdict: error\n  stage: compile',
      'expected: error at compile; found: error at import on the reference (assay.expected.yaml:1)',
      'broken',
    ],
    [
      'verdict: error\n  error: out of memory',
      'expected: error with "out of memory"; found: error at import on the reference, in other words (assay.expected.yaml:1)',
      'broken',
    ],
  ])(
    'that fails otherwise than %j keeps its verdict: exit 1, and the reason says both',
    async (entry, reason, model) => {
      const folder = sample(`- id: "${model}/full_model@off"\n  ${entry}\n`)
      const report = await assayJson(args('-k', model), folder)
      expect(report.code).toBe(1)
      expect(report.results[0]!.verdict).toBe(model === 'faulty' ? 'fail' : 'error')
      expect(report.results[0]!.reason).toContain(reason)
    },
  )

  test('that has expired excuses nothing: exit 1; the day before it does, and says when it ends', async () => {
    const entry = (expires: string) => `- id: faulty/full_model@off\n  verdict: fail\n  expires: ${expires}\n`
    const over = await assay(args('-k', 'faulty'), sample(entry(day(0))))
    expect(over.code).toBe(1)
    expect(over.stdout).toContain(`the expectation expired on ${day(0)} (assay.expected.yaml:1)`)
    const soon = await assay(args('-k', 'faulty'), sample(entry(day(5))))
    expect(soon.code).toBe(0)
    expect(soon.stdout).toMatch(/expected failures: 1 \(1 expires in [45] days: faulty\/full_model@off\)/)
  })

  test('that matches nothing is listed; with --strict it fails the run; one that is not selected is not stale', async () => {
    const folder = sample(`${KNOWN}- id: gone/*\n  verdict: fail\n`)
    const { code, stdout } = await assay(args('-k', 'faulty'), folder)
    expect(code).toBe(0)
    expect(stdout).toContain(
      'stale entries: 1 matches no case of the whole plan; mend or remove it\n  assay.expected.yaml:7  gone/*\n',
    )
    const strict = await assayJson(args('-k', 'faulty', '--strict'), folder)
    expect([strict.code, strict.summary.stale]).toEqual([1, [{ id: 'gone/*', place: 'assay.expected.yaml:7' }]])
  })

  test('of a layer does not make its whole pass', async () => {
    const folder = sample('- id: "faulty/layer_*"\n  verdict: fail\n')
    const report = await assayJson(args('--scope', 'full,layers', '-k', 'faulty'), folder)
    expect(report.results.map(({ scope, verdict }) => `${scope} ${verdict}`)).toEqual([
      'full_model fail',
      'layer_Mul_scaled xfail',
      'layer_Add_y xpass',
    ])
    expect(report.results[0]!.reason).toContain('look at layer_Mul_scaled')
  })

  test('does not stop a run at its first failure', async () => {
    const report = await assayJson(args('-x', '--jobs', '1'), sample(KNOWN))
    expect([report.code, ...said(report)]).toEqual([0, 'broken xfail', 'faulty xfail', 'good pass'])
  })
})

describe('the file of expected failures', () => {
  test('is where the configuration or the command line says', async () => {
    const folder = sample()
    const beside = OFF.slice(4).replace('model=', 'model=../')
    const config = { models: ['../models'], target: ['bad'], targets: { bad: beside }, expected: 'known.yaml' }
    const files = { 'sub/assay.config.json': JSON.stringify(config), 'sub/known.yaml': KNOWN.replaceAll('off', 'bad') }
    cpSync(project(files), folder, { recursive: true, filter: (path) => !path.includes('node_modules') })
    const configured = await assayJson(['test', '--config', 'sub/assay.config.json'], folder)
    expect([configured.code, ...said(configured)]).toEqual([0, 'broken xfail', 'faulty xfail', 'good pass'])
    expect(configured.results[1]!.expected!.entry.place).toBe('sub/known.yaml:1')
    writeFileSync(join(folder, 'mine.yaml'), KNOWN)
    const given = await assayJson(args('--expected', 'mine.yaml'), folder)
    expect([given.code, given.results[1]!.expected!.entry.place]).toEqual([0, 'mine.yaml:1'])
    expect(given.results[1]!.reproduce).toContain('--expected mine.yaml')
  })

  test.each([
    ['- id: a\n  verdct: fail\n', 'assay.expected.yaml:2: unknown key "verdct"; did you mean "verdict"?'],
    ['', 'assay.expected.yaml:1: no entries; write [] for none, delete the file, or let --accept fill it'],
    [
      '- id: a\n  verdict: fail\n- id: a\n  verdict: fail\n',
      'assay.expected.yaml:3: "a" is there already, at assay.expected.yaml:1; keep one of them',
    ],
  ])('that says %j is refused before anything runs', async (text, message) => {
    const folder = sample(text)
    const ran = await assay(args(), folder)
    expect([ran.code, ran.stderr, ran.stdout]).toEqual([4, `assay: ${message}\n`, ''])
    expect(existsSync(join(folder, '.assay/runs'))).toBe(false)
  })

  test('named by something else than text is refused', async () => {
    const folder = sample()
    writeFileSync(join(folder, 'assay.config.json'), JSON.stringify({ expected: ['a.yaml'] }))
    const ran = await assay(args(), folder)
    expect([ran.code, ran.stderr]).toEqual([
      4,
      'assay: assay.config.json: expected: expected a path, found ["a.yaml"]\n',
    ])
  })

  test.each([
    [['--expected', 'none.yaml'], 'no file of expected failures "none.yaml"; --accept creates it'],
    [['--issue', 'https://example.com'], '--issue needs --accept, which writes expected failures'],
    [
      ['--accept', '--issue', 'javascript:x'],
      '--issue takes a link that begins with https:// or http://, found "javascript:x"',
    ],
    [['--accept', '--expires', 'tomorrow'], '--expires takes a day such as 2027-03-01, found "tomorrow"'],
    [
      ['--accept', '--expires', '2020-01-01'],
      '--expires 2020-01-01 is not in the future, so the entries would have no effect',
    ],
    [['--accept', '--expected', 'no/where.yaml'], 'the folder of '],
  ])('%j is refused', async (more, message) => {
    const ran = await assay(args(...more), sample())
    expect([ran.code, ran.stdout]).toEqual([4, ''])
    expect(ran.stderr).toContain(`assay: ${message}`)
  })
})

describe('--accept', () => {
  test('writes what fails now, and a second run exits 0', async () => {
    const folder = sample()
    const more = ['--issue', 'https://example.com/7', '--expires', day(100)]
    const first = await assay(args('--accept', ...more), folder)
    expect(first.code, first.stderr).toBe(0)
    expect(first.stderr).toContain('accepted 2 in assay.expected.yaml:\n  + broken/full_model@off  error at import')
    expect(read(folder)).toMatch(/^# Cases that are known not to pass\. They still run,/)
    expect(read(folder).match(/issue: https:\/\/example\.com\/7\n {2}expires: /g)).toHaveLength(2)
    const second = await assayJson(args(), folder)
    expect([second.code, ...said(second)]).toEqual([0, 'broken xfail', 'faulty xfail', 'good pass'])
    const before = read(folder)
    const third = await assay(args('--accept'), folder)
    expect([third.code, third.stderr]).toEqual([0, 'nothing to accept: assay.expected.yaml stays as it is\n'])
    expect(read(folder)).toBe(before)
  })

  test('takes the selected cases alone, keeps comments and removes what passes now', async () => {
    const folder = sample(
      '# Ours.\n\n# passes by now\n- id: good/full_model@off # old\n  verdict: fail\n\n# kept\n- id: other\n  verdict: fail\n',
    )
    const one = await assay(args('--accept', '-k', 'faulty'), folder)
    expect(one.code).toBe(0)
    expect(one.stderr).toBe('accepted 1 in assay.expected.yaml:\n  + faulty/full_model@off  fail up to relL2 0.4\n')
    expect((await assay(args(), folder)).code).toBe(1)
    const all = await assay(args('--accept', '-k', 'not other'), folder)
    expect(all.code).toBe(0)
    expect(all.stderr).toContain('accepted 1, removed 1 in assay.expected.yaml:')
    expect(all.stderr).toContain('  - good/full_model@off  passes now\n')
    expect(read(folder)).toMatch(/^# Ours\.\n/)
    expect(read(folder)).toContain('# kept\n- id: other\n')
    expect(read(folder)).not.toMatch(/good|passes by now/)
    expect((await assay(args(), folder)).code).toBe(0)
  })

  test('updates what changed, and tells which glob is too wide', async () => {
    const folder = sample(
      '- id: faulty/full_model@off\n  verdict: error\n  stage: run # why\n- id: "*/*@off"\n  verdict: fail\n',
    )
    const ran = await assay(args('--accept'), folder)
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('  + broken/full_model@off  error at import')
    expect(ran.stderr).toContain('  ~ faulty/full_model@off  fail up to relL2 0.4\n')
    expect(ran.stderr).toContain(
      'not accepted: good/full_model@off  xpass: expected fail, but it passes: narrow or remove the entry assay.expected.yaml:4 ("*/*@off")',
    )
    expect(read(folder)).not.toContain('stage: run')
  })

  test('excuses what was accepted and nothing much worse', async () => {
    const folder = sample()
    await assay(args('--accept', '-k', 'faulty'), folder)
    expect(read(folder)).toContain('- id: "faulty/full_model@off"\n  verdict: fail\n  relL2: 0.4\n')
    expect((await assay(args('-k', 'faulty'), folder)).code).toBe(0)
    writeFileSync(join(folder, 'off.onnx'), affineModel(9))
    const worse = await assay(args('-k', 'faulty'), folder)
    expect(worse.code).toBe(1)
    expect(worse.stdout).toMatch(/expected: fail up to relL2 0\.4; found: fail at compare, relL2 \d/)
    writeFileSync(join(folder, 'off.onnx'), affineModel(Number.NaN))
    const broken = await assay(args('-k', 'faulty'), folder)
    expect(broken.code).toBe(1)
    expect(broken.stdout).toContain('found: fail at compare, of no size that could be measured')
  })

  test('accepts a layer together with its whole', async () => {
    const folder = sample()
    const scope = ['--scope', 'full,layers', '-k', 'faulty']
    const ran = await assay(args('--accept', ...scope), folder)
    expect([ran.code, read(folder).match(/id: .*/g)]).toEqual([
      0,
      ['id: "faulty/full_model@off"', 'id: "faulty/layer_Mul_scaled@off"'],
    ])
    expect((await assay(args(...scope), folder)).code).toBe(0)
    expect((await assay(args('-k', 'faulty'), folder)).code).toBe(0)
  })

  test('stops with the run: what was not judged is not accepted', async () => {
    const folder = sample()
    const ran = await assay(args('--accept', '-x', '--jobs', '1'), folder)
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('accepted 1 in')
    expect(ran.stderr).toContain('not judged: 2 of 3 cases')
    expect(existsSync(join(folder, FILE))).toBe(true)
  })

  test('survives names that YAML or a terminal could take for something else', async () => {
    const names = ["it's", 'a "b"', 'c # d', 'e: f', 'g[h]', 'i*j', '- k', 'l\nm', '@n &o !p', '\u001b[31mq']
    const models = names.map((name) => [`models/${name}.onnx`, affineModel()] as const)
    const folder = project({ ...Object.fromEntries(models), 'off.onnx': affineModel(2.5) })
    const first = await assay(args('--accept'), folder)
    expect(first.code, first.stderr).toBe(0)
    expect(first.stderr).not.toContain('\u001b')
    expect(first.stderr.trimEnd().split('\n')).toHaveLength(1 + names.length)
    const second = await assayJson(args(), folder)
    expect([second.code, second.summary.counts.xfail, second.summary.stale]).toEqual([0, names.length, undefined])
  })
})

test('shards expect the same as the whole, and merge to it', async () => {
  const folder = sample(`${KNOWN}- id: gone\n  verdict: fail\n`)
  const whole = await assayJson(args('--strict'), folder)
  const shards = await Promise.all(
    ['1', '2'].map((i) => assayJson(args('--strict', '--shard', `${i}/2`, '--output-dir', `shard-${i}`), folder)),
  )
  const runs = shards.map(({ run }, i) => join(`shard-${i + 1}`, run.id))
  const merged = await assayJson(['merge', ...runs], folder)
  expect(said(merged)).toEqual(said(whole))
  expect(merged.results.map(({ expected }) => expected)).toEqual(whole.results.map(({ expected }) => expected))
  expect([merged.code, merged.summary.stale]).toEqual([1, whole.summary.stale])
  rmSync(join(folder, FILE))
  const other = await assayJson(args('--shard', '2/2', '--output-dir', 'other'), folder)
  const refused = await assay(['merge', runs[0]!, join('other', other.run.id)], folder)
  expect([refused.code, refused.stderr]).toEqual([
    4,
    expect.stringContaining('same cases, but models or options differ'),
  ])
})

test('entries for models that the command line leaves out are not called stale, unless --strict', async () => {
  const folder = sample(`${KNOWN}- id: gone/*\n  verdict: fail\n`)
  writeFileSync(join(folder, 'assay.config.json'), JSON.stringify({ models: ['models'], target: OFF }))
  const good = await assay(['test', 'models/good.onnx'], folder)
  expect([good.code, good.stdout.includes('stale')]).toEqual([0, false])
  const all = await assay(['run'], folder)
  expect([all.code, /stale entries: 1 matches no case/.test(all.stdout)]).toEqual([0, true])
  expect((await assay(['test', 'models/good.onnx', '--strict'], folder)).code).toBe(1)
})
