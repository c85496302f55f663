import type { Values } from '../../options/table.ts'
import type { PlanContext, Planned, SuiteWork } from '../contract.ts'
import { discoverFolders } from '../tensors/discover-folders.ts'
import { locateModels, type ModelConfig, type ModelsAsked, readModels } from '../tensors/models-asked.ts'
import { listFolderFiles } from '../tensors/watch-folders.ts'
import type { FOLDER_OPTIONS } from './options.ts'

async function plan(asked: ModelsAsked, context: PlanContext): Promise<Planned> {
  const { cwd, targets, choices, common } = asked
  const { otherReferences, areDefaults, forFolders } = targets
  const located = await locateModels(asked, context)
  const { foldersSuite } = await import('./suite.ts')
  const suite = foldersSuite({
    cwd,
    ...located,
    only: context.only,
    otherReferences,
    areDefaults,
    ...forFolders,
    ...choices,
    pool: await context.pool(),
    contents: common.shard !== undefined,
    notice: context.notice,
  })
  return { suites: [suite], choices }
}

export const FOLDERS_WORK: SuiteWork<Values<typeof FOLDER_OPTIONS>, ModelConfig, ModelsAsked> = {
  read: readModels,
  plan,
  watches:
    async ({ paths, cwd }) =>
    async () => ({ models: listFolderFiles(discoverFolders(paths, cwd)), others: [] }),
}
