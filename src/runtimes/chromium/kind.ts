import { pageOrder } from '../browser/work-order.ts'
import type { WorkerKind } from '../contract.ts'
import { processorIdentity } from '../fingerprint.ts'
import { locatePackage } from '../install/resolve.ts'
import { scratchFolder } from '../process/scratch-folder.ts'
import { inheritedFor } from '../process/worker-variables.ts'
import { workerEntry } from '../worker-entry.ts'
import { findBrowser, locateBrowser } from './find-browser.ts'
import { browserFlags } from './flags.ts'
import { CHROMIUM_SCHEMA } from './schema.ts'
import type { BrowserOrder } from './worker.ts'

/** onnxruntime-web in a Chromium that we start: one browser for each worker. */
export const CHROMIUM: WorkerKind = {
  name: 'chromium',
  schema: CHROMIUM_SCHEMA,
  processOptions: ['threads', 'ort', 'browser', 'adapter', 'headless', 'sandbox', 'arg', 'env'],
  needs: async ({ options }, context) => [
    await locatePackage('onnxruntime-web', options.ort ?? null, context),
    await locateBrowser(options.browser, context),
  ],
  async launch(target, context) {
    const page = await pageOrder(target, context, processorIdentity())
    const program = await findBrowser(target.options.browser, context)
    // The browser makes it: a worker that is never started leaves nothing behind.
    const scratch = scratchFolder('chromium', context.environment)
    const order: BrowserOrder = { page, program, flags: browserFlags(target, scratch), scratch }
    const argv = [process.execPath, workerEntry('chromium/worker.js')]
    const inherits = inheritedFor('browser', target, context)
    // The page keeps kernels and a device that earlier work may have hung.
    return { argv, order, inherits, channel: 'fd3', scratch, isForeign: true }
  },
}
