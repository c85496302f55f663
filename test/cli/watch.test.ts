import { spawn } from 'node:child_process'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { identity } from '../conformance/models.ts'
import { assay, ended, main, project, startAssay } from '../support/assay.ts'
import { until } from '../support/events.ts'
import { testWith } from '../support/needs.ts'
import { hasTerminals } from '../support/python.ts'
import { affineModel } from '../support/small-models.ts'

const reference = affineModel()
const off = affineModel(2.02)

/** A watching process, and what it has printed since the last look. */
function watching(args: readonly string[], folder: string) {
  const child = startAssay([...args, '--watch'], folder)
  let printed = ''
  const take = (text: Buffer) => {
    printed += text
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  const rest = async (): Promise<string> => {
    await until(() => {
      if (child.exitCode !== null) throw new Error(`it ended: ${printed}`)
      return /waiting for changes\n$/.test(printed)
    }, 'it waits for changes')
    const text = printed
    printed = ''
    return text
  }
  const quit = async () => {
    const end = ended(child)
    child.kill('SIGINT')
    return (await end).code
  }
  return { rest, quit }
}

describe('--watch', () => {
  test('judges a model again when it changes, and only that one', async () => {
    const folder = project({ 'nets/a.onnx': reference, 'nets/b.onnx': reference, 'other.onnx': reference })
    const { rest, quit } = watching(
      ['test', 'nets', '--target', 'ort-web:wasm,model=other.onnx', '--debug-ir', 'ir'],
      folder,
    )
    expect(await rest()).toContain('2 passed')
    writeFileSync(join(folder, 'nets/b.tmp'), off)
    renameSync(join(folder, 'nets/b.tmp'), join(folder, 'nets/b.onnx'))
    const second = await rest()
    expect(second).toContain('changed: nets/b.onnx\n1 case · run')
    expect(second).toMatch(/1 failed in/)
    writeFileSync(join(folder, 'other.onnx'), off)
    const third = await rest()
    expect(third).toContain('changed: other.onnx\n2 cases · run')
    expect(third).toMatch(/1 passed, 1 failed in/)
    writeFileSync(join(folder, 'nets/c.onnx'), off)
    expect(await rest()).toMatch(/changed: nets\/c\.onnx\n1 case [\s\S]*1 passed in/)
    expect(await quit()).toBe(0)
  })

  test('judges all again when a tool of the toolchain under test changes', async () => {
    const copying = 'const [from, to] = process.argv.slice(-2); require("node:fs").copyFileSync(from, to)'
    const mine = {
      compile: [process.execPath, 'tool.cjs', '{model}', '{artifact}'],
      run: [process.execPath, 'tool.cjs', '{artifact}', '{input}', '{output}'],
    }
    const config = JSON.stringify({ toolchains: { mine }, models: ['a.onnx'], target: 'toolchain:mine' })
    const files = { 'a.onnx': identity('float32'), 'tool.cjs': copying, 'assay.config.json': config }
    const folder = project(files)
    const { rest, quit } = watching(['test'], folder)
    expect(await rest()).toContain('1 passed')
    writeFileSync(join(folder, 'tool.cjs'), 'process.exitCode = 1')
    expect(await rest()).toMatch(/changed: tool\.cjs\n1 case [\s\S]*1 error in/)
    expect(await quit()).toBe(1)
  })

  test('follows the configuration, through mistakes too', async () => {
    const config = (target: string) => JSON.stringify({ models: ['a.onnx'], target })
    const folder = project({ 'a.onnx': reference, 'assay.config.json': config('ort:cpu,threads=2') })
    const { rest, quit } = watching(['run', '--config', join(folder, 'assay.config.json')], folder)
    expect(await rest()).toContain('1 passed')
    writeFileSync(join(folder, 'assay.config.json'), config('otr:cpu'))
    expect(await rest()).toContain(
      'changed: assay.config.json\nassay: unknown runtime "otr" in target "otr:cpu"; did you mean "ort"?\n',
    )
    writeFileSync(join(folder, 'assay.config.json'), config('ort-web:wasm'))
    expect(await rest()).toMatch(/1 passed in/)
    rmSync(join(folder, 'a.onnx'))
    expect(await rest()).toContain('assay: no file or folder "a.onnx"')
    writeFileSync(join(folder, 'a.onnx'), reference)
    expect(await rest()).toMatch(/changed: a\.onnx\n[\s\S]*1 passed in/)
    expect(await quit()).toBe(0)
  })

  test('is refused with what is meant for one run', async () => {
    const { code, stderr } = await assay(['test', 'a.onnx', '--watch', '--json'], project({ 'a.onnx': reference }))
    expect([code, stderr]).toEqual([
      4,
      'assay: --watch is interactive and --json is for a single run; leave one of them out\n',
    ])
  })
})

testWith('python', hasTerminals, 'at a terminal keys ask for all, for what failed, and for the end', async () => {
  const folder = project({ 'a.onnx': reference, 'b.onnx': off, 'off.onnx': off })
  const program = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen, keys = '', ['f', 'r', 'q']
while True:
    try:
        part = os.read(terminal, 65536).decode('utf8', 'replace')
    except OSError:
        break
    if not part:
        break
    seen += part
    if keys and seen.endswith('q: quit\\r\\n'):
        sys.stdout.write(seen); seen = ''
        os.write(terminal, keys.pop(0).encode())
sys.stdout.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`
  const argv = [
    process.execPath,
    main,
    'test',
    'a.onnx',
    'b.onnx',
    '--target',
    'bad=ort-web:wasm,model=off.onnx',
    '--watch',
    '--scope',
    'full',
    '-k',
    'a/ or b/',
  ]
  const env = { ...process.env, NO_COLOR: '1', TERM: 'xterm', CI: '' }
  const child = spawn('python3', ['-c', program, ...argv], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const { code, stdout } = await ended(child)
  expect(stdout.match(/\d cases? · run/g)).toEqual(['2 cases · run', '1 case · run', '2 cases · run'])
  expect(stdout).toContain('waiting for changes; r: judge all again, f: judge failed cases again, q: quit')
  expect(code).toBe(1)
})
