import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeScratch } from '../process/scratch-folder.ts'
import { readOrder } from '../worker/read-order.ts'
import { serveStdio } from '../worker/serve-stdio.ts'
import type { ToolchainOrder } from './build.ts'
import { toolchainRuntime } from './runtime.ts'

const LOOK_MS = 500

const order = await readOrder<ToolchainOrder>()
makeScratch(order.scratch)
mkdirSync(join(order.scratch, 'tmp'))
const removeScratch = () => rmSync(order.scratch, { recursive: true, force: true })
process.on('exit', removeScratch)

// A host that is gone hears nothing more, and is noticed below.
process.stdout.on('error', () => {})

/** A host that is killed cannot end us; our tools, which are in our process group, must not outlive it. */
const host = process.ppid
setInterval(() => {
  if (process.ppid === host) return
  removeScratch()
  process.kill(-process.pid, 'SIGKILL')
}, LOOK_MS).unref()

await serveStdio(toolchainRuntime(order))
