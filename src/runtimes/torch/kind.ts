import { join } from 'node:path'
import type { WorkerKind } from '../contract.ts'
import { scratchFolder } from '../process/scratch-folder.ts'
import { pythonKind } from '../python/kind.ts'
import { listImports } from './imports.ts'
import { TORCH_SCHEMA } from './schema.ts'

const PLAIN = pythonKind('torch', TORCH_SCHEMA)

/** PyTorch with transformers, which copies the code that a model brings along into a folder before it runs it. */
export const TORCH: WorkerKind = {
  ...PLAIN,
  processOptions: [...PLAIN.processOptions, 'import'],
  async launch(target, context, limits) {
    const launch = await PLAIN.launch(target, context, limits)
    // The worker makes it: one that is never started leaves nothing behind.
    const scratch = scratchFolder('torch', context.environment)
    const folders = { HF_HOME: scratch, HF_MODULES_CACHE: join(scratch, 'modules'), ASSAY_SCRATCH: scratch }
    const own = { ...launch, scratch, env: { ...launch.env, ...folders } }
    const imports = listImports(target)
    if (imports.length === 0) return own
    const argv = [...launch.argv, ...imports.map((word) => `--import=${word}`)]
    // Paths are relative to where assay was started.
    return { ...own, argv, cwd: context.projectFolder, isForeign: true }
  },
}
