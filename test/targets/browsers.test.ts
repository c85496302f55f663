import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { scratchFolder } from '../../src/runtimes/process/scratch-folder.ts'
import { assay, assayJson, ended, type JsonReport, project, startAssay, temporaryFolder } from '../support/assay.ts'
import { describeWithBrowser, hasBrowser } from '../support/browser.ts'
import { computedMs, processesBelow } from '../support/browser-processes.ts'
import { until } from '../support/events.ts'
import { testWith } from '../support/needs.ts'
import { affineModel } from '../support/small-models.ts'
import { survivorsOf } from '../support/survivors.ts'

const folder = project({ 'model.onnx': affineModel() })

function resultOf({ results }: JsonReport, model: string, target: string): Result {
  const found = results.find(({ id }) => id === `${model}/full_model@${target}`)
  if (!found) throw new Error(`no ${model} on ${target} in ${results.map(({ id }) => id).join(', ')}`)
  return found
}

describeWithBrowser('a browser target that is not available', () => {
  const absent: [string, RegExp][] = [
    ['chromium:wasm,browser=./nope', /: browser=\.\/nope is not a program that can be started$/],
    ['chromium:wasm,browser=./ends', /: the browser ended with exit code 3 before .*: cannot open display :77$/],
    [
      'chromium:webgpu,ort=1.20.1',
      /: onnxruntime-web 1\.20\.1 has no bundle for webgpu; its WebGPU device is webgpu-jsep/,
    ],
    ['browser:wasm,wait=2', /: nobody opened the page within 2 s; wait= sets how long to wait$/],
  ]
  const withoutCard = existsSync('/dev/dri')
    ? []
    : ['chromium:webgpu,adapter=hardware', 'chromium:webgl,adapter=hardware']
  let report: Awaited<ReturnType<typeof assayJson>>
  beforeAll(async () => {
    writeFileSync(join(folder, 'ends'), '#!/bin/sh\necho "cannot open display :77" >&2\nexit 3\n')
    chmodSync(join(folder, 'ends'), 0o755)
    const names = [...absent.map(([name]) => name), 'chromium:webnn', ...withoutCard]
    report = await assayJson(['test', 'model.onnx', ...names.flatMap((name) => ['--target', name])], folder)
  })

  function expectAbsent(target: string, message: RegExp): void {
    const { verdict, error } = resultOf(report, 'model', target)
    expect([report.code, verdict]).toEqual([1, 'error'])
    expect(error).toMatchObject({ stage: 'discover', side: 'target', message: expect.stringMatching(message) })
    expect(error?.message).toContain(`${target} is not available: `)
  }

  test.each(absent)('%s says why', (target, message) => expectAbsent(target, message))

  testWith(
    'linux',
    process.platform === 'linux',
    "WebNN's absence is told in the browser's words (Linux has none)",
    () => {
      expectAbsent('chromium:webnn', /WebNN is not supported on this platform/)
    },
  )

  test.each(withoutCard)('%s takes no software for it', (target) => {
    expectAbsent(target, /(no hardware was found, only .*swiftshader|WebGPU found no adapter|has no WebGL)/i)
  })
})

test.each([
  ['chromium:webgp', 'unknown device "webgp" in target "chromium:webgp"; did you mean "webgpu"?'],
  ['browser:webgp', 'unknown device "webgp" in target "browser:webgp"; did you mean "webgpu"?'],
  ['chromium:wasm,ort=^1', 'ort=^1 in target "chromium:wasm,ort=^1"; expected a version such as 1.30.0 or latest'],
  ['chromium@150:wasm', 'chromium takes no version; leave "@150" out of target "chromium@150:wasm"'],
  ['chromium:wasm,brwser=x', 'unknown key "brwser" in target "chromium:wasm,brwser=x"; did you mean "browser"?'],
  ['chromium:webgpu,adapter=hard', 'unknown value "hard" of adapter in target "chromium:webgpu,adapter=hard"'],
])('%s is a usage error', async (target, message) => {
  const ran = await assay(['test', 'model.onnx', '--target', target], folder)
  expect(ran.stderr).toContain(message)
  expect(ran.code).toBe(4)
})

testWith('browser', hasBrowser, 'a run leaves nothing of its browsers behind', async () => {
  const temporary = temporaryFolder('t')
  const args = ['test', 'model.onnx', '--target', 'chromium:wasm', '--recompute']
  // As a process of its own: workers of commands in this one stay for the next command.
  const ran = await ended(startAssay(args, folder, { TMPDIR: temporary }))
  expect([ran.code, readdirSync(temporary)]).toEqual([0, []])
})

/** Starts a process that makes the profile again when the worker is gone, and waits. */
const LEAVES_LATE = `#!/bin/sh
for word; do case $word in --user-data-dir=*) profile=\${word#*=};; esac; done
setsid sh -c "while kill -0 $PPID 2>/dev/null; do sleep 0.02; done; mkdir -p '$profile/late'" &
touch "$profile/started"
exec sleep 1000
`

testWith(
  'linux',
  process.platform === 'linux',
  'what a browser started ends before its profile is removed',
  async () => {
    const temporary = temporaryFolder('t')
    const mark = `assay-late-${process.pid}`
    writeFileSync(join(folder, 'leaves'), LEAVES_LATE)
    chmodSync(join(folder, 'leaves'), 0o755)
    const args = ['test', 'model.onnx', '--target', 'chromium:wasm,browser=./leaves', '--recompute']
    const child = startAssay(args, folder, { LC_MARK: mark, TMPDIR: temporary })
    await until(
      () => readdirSync(temporary, { recursive: true }).some((name) => String(name).endsWith('started')),
      'it',
    )
    child.kill('SIGKILL')
    await until(() => survivorsOf(mark).length === 0, 'all its processes have ended')
    expect(readdirSync(temporary)).toEqual([])
  },
)

describeWithBrowser('a host that is killed', () => {
  const moments: [string, (pid: number) => boolean][] = [
    ['a folder', () => true],
    ['a browser', (pid) => computedMs('browser', pid) > 0],
    ['a page', (pid) => computedMs('tab', pid) > 0],
  ]
  test.each(moments)('leaves no browser and no file behind as soon as there is %s', async (what, isThere) => {
    const temporary = temporaryFolder('t')
    const mark = `assay-killed-${what}-${process.pid}`
    const files = () => readdirSync(temporary)
    const env = { LC_MARK: mark, TMPDIR: temporary }
    const child = startAssay(['test', 'model.onnx', '--target', 'chromium:wasm', '--recompute'], folder, env)
    await until(() => files().length > 0 && isThere(child.pid!), what)
    child.kill('SIGKILL')
    await until(() => survivorsOf(mark).length === 0, 'all its processes have ended')
    await until(() => files().length === 0, 'its files are removed')
  })

  test('together with its worker leaves no browser, and a profile that the next run removes', async () => {
    const temporary = temporaryFolder('t')
    const mark = `assay-killed-both-${process.pid}`
    const env = { LC_MARK: mark, TMPDIR: temporary }
    const child = startAssay(['test', 'model.onnx', '--target', 'chromium:wasm', '--recompute'], folder, env)
    await until(() => computedMs('tab', child.pid!) > 0, 'a page')
    const workers = processesBelow(child.pid!, 'chromium/worker.js')
    expect(workers).toHaveLength(1)
    child.kill('SIGSTOP')
    for (const pid of [...workers, child.pid!]) process.kill(pid, 'SIGKILL')
    await until(() => survivorsOf(mark).length === 0, 'all its processes have ended')
    expect(readdirSync(temporary)).toEqual([expect.stringMatching(/^assay-chromium-/)])
    scratchFolder('chromium', env)
    await until(() => readdirSync(temporary).length === 0, 'the profile is removed')
  })
})
