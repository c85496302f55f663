import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { walkFiles } from '../../../files/disk/glob.ts'
import type { WatchedFiles } from '../../contract.ts'
import type { DecodersAsked } from './decoders-asked.ts'

/** What the verdicts of decoders depend on: the folders of the models, prompts and thresholds. */
export function watchDecoders(asked: DecodersAsked): () => Promise<WatchedFiles> {
  const { cwd, models, decoders } = asked
  const { prompts, thresholds, modelConfiguration, tokenizer } = decoders
  const files = [prompts, thresholds, modelConfiguration].flatMap((path) => (path === undefined ? [] : [path]))
  return async () => {
    const folders = [...models, ...(tokenizer === undefined ? [] : [tokenizer])]
    const found = folders.flatMap((given) => filesIn(resolve(cwd, given)))
    return { models: new Map(), others: [...found, ...files.map((path) => resolve(cwd, path))] }
  }
}

/** None of an id of a hub: what its cache holds does not change. */
function filesIn(path: string): string[] {
  return existsSync(path) && statSync(path).isDirectory() ? [...walkFiles(path, () => {})] : []
}
