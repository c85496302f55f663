import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assay, assayJson, type JsonReport, main, project } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

const good = affineModel()
const off = affineModel(2.5)
const targets = ['--target', 'same=ort:cpu,threads=2', '--target', 'off=ort:cpu,model=off.onnx']

describe('a report', () => {
  const folder = project({ 'models/a.onnx': good, 'models/broken.onnx': 'no', 'off.onnx': off })

  test('--json is one document on stdout and nothing else', async () => {
    const ran = await assay(['test', ...targets, '--json'], folder)
    const report = JSON.parse(ran.stdout) as JsonReport
    expect(Object.keys(report)).toEqual(['schema', 'run', 'results', 'summary'])
    expect(report.schema).toBe('assay/run@1')
    expect(report.results.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      'a/full_model@off fail',
      'a/full_model@same pass',
      'broken/full_model@off error',
      'broken/full_model@same error',
    ])
    expect(report.summary).toMatchObject({ counts: { pass: 1, fail: 1, error: 2 }, exitCode: 1 })
    expect(ran.stderr).toBe('')
    expect(ran.code).toBe(1)
  })

  test('several reporters work side by side', async () => {
    const reporters = ['junit:out.xml', 'json:deep/out.json', 'github', 'terminal'].flatMap((name) => [
      '--reporter',
      name,
    ])
    const { stdout, code } = await assay(['test', ...targets, ...reporters], folder, {
      GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
    })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^1 passed, 1 failed, 2 errors in \d+\.\d\ds$/m)
    expect(stdout.match(/^::error title=assay .*$/gm)).toHaveLength(3)
    expect(stdout).toMatch(/^::error title=assay fail%3A a\/full_model@off::.*%0Areproduce: assay test /m)
    const xml = readFileSync(join(folder, 'out.xml'), 'utf8')
    expectWellFormed(xml)
    expect(xml).toMatch(/<testsuites[^>]* tests="4" failures="1" errors="2" skipped="0"/)
    expect(xml).toMatch(/<property name="rel_l2" value="0\.\d+"\/>/)
    expect(JSON.parse(readFileSync(join(folder, 'deep/out.json'), 'utf8'))).toMatchObject({ summary: { exitCode: 1 } })
    expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toMatch(/^## ❌ Assay: 1 failed, 2 errors of 4 cases$/m)
  })

  test('of several targets shows model × target', async () => {
    const { stdout } = await assay(['test', ...targets], folder)
    expect(stdout).toMatch(/^model {3}off {2}same\na {7}✗ {4}✓\nbroken {2}! {4}!\n✓ pass {2}✗ fail {2}! error$/m)
  })

  test('of a failure says value, limit, rule, place and files', async () => {
    const { stdout } = await assay(['test', 'models/a.onnx', ...targets], folder)
    const block = stdout.slice(stdout.indexOf('✗ FAIL'), stdout.indexOf('\nstage'))
    expect(block).toMatch(/✗ FAIL {2}a\/full_model@off/)
    expect(block).toContain('rule       float32 whole model (table): |t−r| ≤ 1e-3·|r| + 1e-4·max|r|, relL2 ≤ 1e-4')
    expect(block).toMatch(/rel_l2 0\.\d+ > limit 1e-4/)
    expect(block).toContain('mismatches 6 of 6 (allowed 0)')
    expect(block).toMatch(/worst at +reference +target +error +allowed/)
    expect(block).toContain('target.safetensors')
    expect(stdout).toMatch(/^stage +total +count +mean +min$/m)
  })

  test('has colours only where they are wanted', async () => {
    const escapes = async (args: readonly string[], env: Record<string, string>) => {
      return (await assay(['test', 'models/broken.onnx', ...args], folder, env)).stdout.includes('\u001b[')
    }
    expect(await escapes([], { NO_COLOR: '1' })).toBe(false)
    expect(await escapes([], { NO_COLOR: '', FORCE_COLOR: '1' })).toBe(true)
    expect(await escapes(['--color'], { NO_COLOR: '1' })).toBe(true)
    expect(await escapes(['--no-color'], { NO_COLOR: '', FORCE_COLOR: '1' })).toBe(false)
  })
})

/** Every "<" and ">" belongs to a tag of ours, and the tags nest. */
function expectWellFormed(xml: string): void {
  const open: string[] = []
  const rest = xml
    .replace(/^<\?xml [^?]*\?>/, '')
    .replace(/<(\/?)([a-z-]+)(?: [a-z]+="[^"<>]*")*(\/?)>/g, (_, end, name, alone) => {
      if (end) expect(open.pop()).toBe(name)
      else if (!alone) open.push(name)
      return ''
    })
  expect(open).toEqual([])
  expect(rest).not.toMatch(/[<>]|&(?!(amp|lt|gt|quot|apos);)/)
}

describe('a hostile name', () => {
  const name = '\u001b[31mred\u001b]0;title\u0007\u009b2J\u202e]]><x a="1">&amp;\n::error::pwned\n##[error]pwned'
  const folder = project({ [`models/${name}.onnx`]: good, [`models/${name}/broken.onnx`]: 'no', 'off.onnx': off })
  const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/

  test('is inert in every report', async () => {
    const reporters = ['junit:out.xml', 'github', 'terminal'].flatMap((reporter) => ['--reporter', reporter])
    const summary = join(folder, 'summary.md')
    const { stdout, stderr, code } = await assay(['test', ...targets, ...reporters, '-v'], folder, {
      GITHUB_STEP_SUMMARY: summary,
    })
    expect(code).toBe(1)
    const xml = readFileSync(join(folder, 'out.xml'), 'utf8')
    for (const text of [stdout, stderr, xml, readFileSync(summary, 'utf8')]) {
      expect(text).not.toMatch(steering)
      expect(text).not.toMatch(/^\s*(::error::|##\[)/m)
    }
    expect(stdout).toContain('pwned')
    expectWellFormed(xml)
    expect(readFileSync(summary, 'utf8')).not.toContain('<x')
  })

  test('is inert and whole in the JSON document', async () => {
    const { stdout } = await assay(['test', ...targets, '--json'], folder)
    expect(stdout).not.toMatch(steering)
    expect(stdout).not.toMatch(/^\s*(::error::|##\[)/m)
    const report = JSON.parse(stdout) as JsonReport
    expect(new Set(report.results.map(({ model }) => model))).toEqual(new Set([name, `${name}/broken`]))
  })

  test('is inert in lists and in what is refused', async () => {
    const listed = await assay(['list'], folder)
    expect(listed.stdout).not.toMatch(steering)
    expect(listed.stdout.trimEnd().split('\n')).toHaveLength(2)
    const document = (await assay(['list', '--json'], folder)).stdout
    expect(document).not.toMatch(steering)
    expect(JSON.parse(document)).toContain(`${name}/full_model@ort-web:wasm`)
    const refused = await assay(['test', `missing ${name}.onnx`], folder)
    expect(refused.code).toBe(5)
    expect(refused.stderr).not.toMatch(steering)
    expect(refused.stderr).toMatch(/^assay: [^\n]+\n$/)
  })
})

describe('the reproduce command', () => {
  const odd = `it's a "model" $(touch pwned) & co; [1].*`
  const folder = project({ [`models/${odd}.onnx`]: good, 'models/plain.onnx': good, 'off.onnx': off })
  const run = (command: string) => {
    mkdirSync(join(folder, 'bin'), { recursive: true })
    writeFileSync(join(folder, 'bin/assay'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
    chmodSync(join(folder, 'bin/assay'), 0o755)
    const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
    const ran = spawnSync('sh', ['-c', `${command} --json`], { cwd: folder, env, encoding: 'utf8' })
    return JSON.parse(ran.stdout) as JsonReport
  }

  test('as printed judges just that case again, with the same verdict and numbers', async () => {
    const args = ['test', 'models', ...targets, '--seed', '3', '--input', 'x=-2..2', '--atol', '0.001']
    const { results } = await assayJson(args, folder)
    const { stdout } = await assay(args, folder)
    const printed = stdout.match(/(?<=^ {2}reproduce {2}).*$/gm) ?? []
    const failed = results.filter(({ verdict }) => verdict === 'fail')
    expect(failed.map(({ model }) => model)).toEqual([odd, 'plain'])
    expect(printed).toEqual(failed.map(({ reproduce }) => reproduce))
    for (const [i, command] of printed.entries()) {
      const again = run(command)
      expect(again.results.map(({ id, verdict, metrics }) => ({ id, verdict, metrics }))).toEqual([
        { id: failed[i]!.id, verdict: 'fail', metrics: failed[i]!.metrics },
      ])
    }
    expect(existsSync(join(folder, 'pwned'))).toBe(false)
  })
})
