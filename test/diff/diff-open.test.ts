import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemBrowser } from '../../src/runtimes/chromium/find-browser.ts'
import { assay, ended, project, startAssay, temporaryFolder } from '../support/assay.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { writePlanted } from '../support/diff-tensors.ts'
import { until } from '../support/events.ts'
import { affineModel } from '../support/small-models.ts'

/** Starts the command, gives the address that it prints and a way to end it. */
async function opened(args: readonly string[], folder: string, env: Record<string, string> = {}) {
  const child = startAssay(['diff', ...args, '--open'], folder, { BROWSER: 'none', ...env })
  const end = ended(child)
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (text: Buffer) => {
      said += text
      const found = /http:\/\/127\.0\.0\.1:\d+\/\?token=\w+/.exec(said)
      if (found) resolve(found[0])
    })
    child.on('close', () => reject(new Error(said)))
  })
  const stop = async () => {
    child.kill('SIGINT')
    return (await end).code
  }
  return { url, stop }
}

async function tensors(): Promise<string> {
  const folder = temporaryFolder('tensors')
  await writePlanted(folder)
  return folder
}

/** A browser that only writes down what it was told to open. */
function writingBrowser(name = 'browser') {
  const folder = temporaryFolder('browser')
  const [program, words] = [join(folder, name), join(folder, 'words')]
  mkdirSync(dirname(program), { recursive: true })
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" >"${words}.draft"\nmv "${words}.draft" "${words}"\n`)
  chmodSync(program, 0o755)
  const told = async () => {
    await until(() => existsSync(words), 'the browser was started')
    return readFileSync(words, 'utf8').trimEnd()
  }
  return { program, told, wasStarted: () => existsSync(words) }
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('the address is in no command line, but in a file that only its user can read and that goes with the command', async () => {
  const folder = await tensors()
  const { program, told } = writingBrowser()
  const { url, stop } = await opened(['reference.npy', 'noisy.npy'], folder, { BROWSER: program })
  const href = await told()
  expect(href).toMatch(/^file:\/\/\/.*\/assay-page-\w+\/open\.html$/)
  const path = fileURLToPath(href)
  expect(readFileSync(path, 'utf8')).toContain(`content="0;url=${url}"`)
  expect([modeOf(path), modeOf(dirname(path))]).toEqual(['600', '700'])
  expect(await stop()).toBe(0)
  expect(existsSync(dirname(path))).toBe(false)
})

test('a helper that opens addresses on another machine is not started on a file of this one', async () => {
  const folder = await tensors()
  const { program, wasStarted } = writingBrowser('helpers/browser.sh')
  const { url, stop } = await opened(['reference.npy', 'noisy.npy'], folder, {
    BROWSER: program,
  })
  expect(url).toContain('?token=')
  expect(await stop()).toBe(0)
  expect(wasStarted()).toBe(false)
})

describeWithBrowser('assay diff --open', () => {
  let browser: Browser
  beforeAll(async () => {
    const executablePath = systemBrowser(process.env.PATH ?? '')
    if (!executablePath) throw new Error('ASSAY_TEST_BROWSER=required, but there is no Chromium or Chrome')
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  test('shows a case that failed, by the rule that the run judged it by', async () => {
    const folder = project({ 'a.onnx': affineModel(), 'off.onnx': affineModel(2.0001) })
    const ran = await assay(['test', 'a.onnx', '--target', 'off=ort:cpu,model=off.onnx'], folder, {
      ASSAY_SCOPE: 'layers',
    })
    expect(ran.stdout).toMatch(/look +assay diff a\/layer_Mul_scaled@off --run \w{26}/)
    const { url, stop } = await opened(['layer_Mul'], folder)
    const page = await browser.newPage()
    await page.goto(url)
    await page.getByText('relL2 5e-5 is over 1e-5').first().waitFor()
    const text = await page.locator('body').textContent()
    expect(text).toContain('a/layer_Mul_scaled@off, reference (ort:cpu) ↔ a/layer_Mul_scaled@off, target (off)')
    expect(text).toContain('float32 single layer (table)')
    expect(text).toMatch(/within\s*6/)
    await page.close()
    expect(await stop()).toBe(0)
  })

  test('is reached through the file that hides its address', async () => {
    const folder = await tensors()
    const { program, told } = writingBrowser()
    const { url, stop } = await opened(['reference.npy', 'noisy.npy'], folder, { BROWSER: program })
    const page = await browser.newPage()
    await page.goto(await told())
    await page.getByText('difference').first().waitFor()
    expect(new URL(page.url()).host).toBe(new URL(url).host)
    expect(page.url()).not.toContain('token')
    await page.close()
    expect(await stop()).toBe(0)
  })
})

test('--open is refused with what only a text can be', async () => {
  const folder = project({ 'a.onnx': affineModel(), 'off.onnx': affineModel(2.01) })
  await assay(['test', 'a.onnx', '--target', 'off=ort:cpu,model=off.onnx'], folder)
  const json = await assay(['diff', 'full_model', '--open', '--json'], folder)
  expect([json.code, json.stderr]).toEqual([
    4,
    'assay: --open shows a page and --json is for text output; leave one of them out\n',
  ])
  const runs = await assay(['diff', 'last', 'last', '--open'], folder)
  expect([runs.code, runs.stderr]).toEqual([4, 'assay: --open shows tensors, found two runs; add --case <id>\n'])
})
