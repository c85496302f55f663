import type { Runtime } from '../contract.ts'
import { HeldOutputs } from './held-outputs.ts'
import { LOCAL_MODELS } from './model-source.ts'
import { serveRuntime } from './serve-runtime.ts'
import { openSyncChannel } from './sync-channel.ts'
import { LOCAL_FILES } from './tensor-files.ts'

/** Serves a runtime to the host on standard input and file descriptor 3, until standard input ends. */
export async function serveStdio(runtime: Runtime): Promise<never> {
  await serveRuntime(runtime, openSyncChannel(0, 3), LOCAL_MODELS, { files: LOCAL_FILES, held: new HeldOutputs() })
  process.exit(0)
}
