import type { Limits, WorkerKind } from '../contract.ts'
import { noticeUnset } from '../process/inherited-environment.ts'
import { scratchFolder } from '../process/scratch-folder.ts'
import { workerEntry } from '../worker-entry.ts'
import type { ToolchainOrder } from './build.ts'
import type { Toolchain } from './definition.ts'
import { findToolchain } from './read-toolchain.ts'
import { TOOLCHAIN_SCHEMA } from './schema.ts'

/** What the worker does besides running tools, such as writing tensors, comes on top of their limits. */
const GRACE_MS = 60_000

/** A compiler that is a plain command line, described in the configuration; the device is its name there. */
export const TOOLCHAIN: WorkerKind = {
  name: 'toolchain',
  schema: TOOLCHAIN_SCHEMA,
  processOptions: [],
  untried: () =>
    'a compiler that runs as a command line; describe it under toolchains in assay.config.ts, use it as toolchain:mycc',
  async launch(target, { toolchains = {}, environment, notice }, limits) {
    const toolchain = findToolchain(target.device, toolchains)
    noticeUnset(toolchain.env, `toolchain ${toolchain.name}`, environment, notice)
    const limitsMs = stageLimits(toolchain, limits)
    const scratch = scratchFolder('toolchain', environment)
    const order: ToolchainOrder = { toolchain, limitsMs, scratch }
    return {
      argv: [process.execPath, workerEntry('toolchain/worker.js')],
      order,
      inherits: toolchain.env,
      isForeign: true,
      limits: {
        startMs: limitsMs.start + GRACE_MS,
        compileMs: limitsMs.import + limitsMs.compile + GRACE_MS,
        runMs: limitsMs.run + GRACE_MS,
      },
      channel: 'fd3',
      scratch,
    }
  },
}

function stageLimits({ limitsMs }: Toolchain, { startMs, compileMs, runMs }: Limits): ToolchainOrder['limitsMs'] {
  return { start: startMs, import: compileMs, compile: compileMs, run: runMs, ...limitsMs }
}
