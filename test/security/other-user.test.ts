import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createJiti } from 'jiti'
import { expect, test } from 'vitest'
import { canBeOther } from '../../src/runtimes/loopback/testing/other-user.ts'
import { printFigures } from '../reliability/figures.ts'
import { ended, root, startAssay } from '../support/assay.ts'
import { hasBrowser } from '../support/browser.ts'
import { processesBelow } from '../support/browser-processes.ts'
import { writePlanted } from '../support/diff-tensors.ts'
import { until } from '../support/events.ts'
import { atFileEnd } from '../support/file-end.ts'
import { describeWith } from '../support/needs.ts'
import { OtherUser, portsOf } from '../support/other-user.ts'
import { affineModel } from '../support/small-models.ts'

const NOBODY = 65534

/** Beside the folder of the tests, which is closed to others: everybody may read the project, and write to `tmp`. */
function openPlace(): string {
  const place = mkdtempSync('/tmp/assay-other-')
  atFileEnd(() => rmSync(place, { recursive: true, force: true }))
  chmodSync(place, 0o755)
  for (const name of ['project', 'tmp']) mkdirSync(join(place, name))
  chmodSync(join(place, 'tmp'), 0o1777)
  return place
}

/** A compiler that takes its time, so that there is something to see. */
const TOOLCHAIN = {
  compile: ['sh', '-c', 'cp "$0" "$1"; sleep 1', '{model}', '{artifact}'],
  run: ['sh', '-c', 'sleep 1; exit 3', '{artifact}', '{input}', '{output}'],
}

async function writeProject(folder: string): Promise<void> {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const config = { toolchains: { slow: TOOLCHAIN } }
  writeFileSync(join(folder, 'assay.config.ts'), `export default ${JSON.stringify(config)} as object\n`)
  writeFileSync(join(folder, 'model.onnx'), affineModel())
  writeFileSync(join(folder, 'browser'), '#!/bin/sh\nsleep 2\n')
  chmodSync(join(folder, 'browser'), 0o755)
  await writePlanted(folder)
}

/** As another user: the folder in which jiti would look for compiled files, with code that writes a file of its own. */
async function plantCompiled(temporary: string, config: string, stolen: string): Promise<void> {
  const folder = join(temporary, 'jiti')
  mkdirSync(folder)
  await createJiti(import.meta.url, { moduleCache: false, fsCache: folder }).import(config)
  const code = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(stolen)}, '')`
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    writeFileSync(path, `${code}\n${readFileSync(path, 'utf8')}`)
    chownSync(path, NOBODY, NOBODY)
  }
  chmodSync(folder, 0o777)
  chownSync(folder, NOBODY, NOBODY)
}

describeWith('root', canBeOther, 'another user of the machine', () => {
  test('learns no token, reads no file of ours, is not let in and has nothing run', async () => {
    const place = openPlace()
    const [project, temporary] = [join(place, 'project'), join(place, 'tmp')]
    await writeProject(project)
    await plantCompiled(temporary, join(project, 'assay.config.ts'), join(place, 'ran'))
    const other = new OtherUser(temporary)
    const env = { TMPDIR: temporary, BROWSER: join(project, 'browser') }

    const targets = ['toolchain:slow', ...(hasBrowser ? ['chromium:wasm'] : [])]
    const args = ['test', 'model.onnx', '--input', 'x=1', ...targets.flatMap((target) => ['--target', target])]
    const [shown, tested] = [
      startAssay(['diff', 'reference.npy', 'noisy.npy', '--open'], project, env),
      startAssay(args, project, env),
    ]
    for (const child of [shown, tested]) atFileEnd(() => child.kill('SIGKILL'))
    other.watch([shown.pid!, tested.pid!])
    const [showing, testing] = [ended(shown), ended(tested)]
    const url = new URL(await addressIn(shown.stderr))
    other.tryPort(Number(url.port), url.searchParams.get('token')!)
    const pages = new Set<number>()
    let isOver = false
    void testing.finally(() => {
      isOver = true
    })
    await until(() => {
      for (const port of portsOf(processesBelow(tested.pid!, 'chromium/worker.js'))) {
        pages.add(port)
        other.tryPort(port, '0'.repeat(32))
      }
      return isOver
    }, 'the run has ended')
    const loot = await other.tell()
    // He has not used up the address.
    const arrived = await fetch(url, { redirect: 'manual' })
    shown.kill('SIGINT')
    const [{ code, stdout }] = await Promise.all([testing, showing])

    const { looks, ...got } = loot
    const counts = Object.fromEntries(Object.entries(got).map(([what, list]) => [what, list.length]))
    printFigures('other user', { ...counts, ports: 1 + pages.size, looks })
    expect([code, stdout]).toEqual([1, expect.stringContaining('sh ended with exit code 3')])
    if (hasBrowser) expect(stdout).toMatch(/✓ pass +model\/full_model@chromium:wasm/)
    expect(pages.size).toBe(hasBrowser ? 1 : 0)
    const hasRun = existsSync(join(place, 'ran'))
    expect({ ...got, hasRun, addressWorks: arrived.status === 303 }).toEqual({
      tokens: [],
      files: [],
      connections: [],
      hasRun: false,
      addressWorks: true,
    })
  })
})

function addressIn(stderr: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  return new Promise((resolve) => {
    stderr.on('data', (part) => {
      text += part
      const [address] = /http:\/\/127\.0\.0\.1:\d+\/\?token=\w+/.exec(text) ?? []
      if (address) resolve(address)
    })
  })
}
