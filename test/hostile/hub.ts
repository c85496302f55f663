import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { resolveModel } from '../../src/models/hugging-face/hub/resolve-model.ts'
import { HubServer, type Mischief, type ServedModel } from '../../src/models/testing/hub-server.ts'
import { atFileEnd } from '../support/file-end.ts'
import type { Row } from './corpus.ts'

const COMMIT = 'a'.repeat(40)
const sound: ServedModel = {
  commit: COMMIT,
  files: { 'config.json': '{"model_type":"llama"}', 'tokenizer.json': '{}', 'model.safetensors': 'weights' },
}

let running: Promise<HubServer> | null = null

function hub(): Promise<HubServer> {
  running ??= HubServer.start().then((server) => {
    atFileEnd(() => {
      running = null
      return server.close()
    })
    return server
  })
  return running
}

/** Asks for a model of a hub that misbehaves; nothing may lie outside of the cache afterwards. */
async function fetched(
  folder: string,
  model: Partial<ServedModel>,
  mischief: Mischief,
  id = 'org/m',
): Promise<unknown> {
  const server = await hub()
  server.models.set('org/m', { ...sound, ...model })
  server.mischief = mischief
  const found = resolveModel(id, {
    cwd: folder,
    weights: ['safetensors'],
    retryPolicy: { silenceMs: 2000, pauseMs: 1, attempts: 2 },
    environment: { HF_HOME: join(folder, 'home'), HF_ENDPOINT: server.endpoint },
  })
  await found.catch(() => {})
  server.mischief = {}
  const outside = readdirSync(folder).filter((name) => name !== 'home')
  return outside.length > 0 ? `wrote ${outside}` : found
}

type Short = readonly [
  name: string,
  model: Partial<ServedModel>,
  mischief: Mischief,
  says: RegExp | string,
  exit?: Row['exit'],
]

const renamed = (to: string): Mischief => ({ renames: { 'model.safetensors': to } })

const table: readonly Short[] = [
  ['a file that climbs', {}, renamed('../../../evil'), 'expected a path inside it'],
  ['a file with an absolute path', {}, renamed('/tmp/evil.safetensors'), 'expected a path inside it'],
  ['a file with a NUL', {}, renamed('evil\0.safetensors'), /expected a path inside it|no weights at all/],
  ['a file of backslashes', {}, renamed('..\\..\\evil.safetensors'), /expected a path inside it|no weights at all/],
  ['a file with a line break', {}, renamed('a\n::error::b.safetensors'), /expected a path inside it|no weights at all/],
  ['a commit that is a path', { commit: '../../evil' }, {}, /commit|sha|answer/],
  ['a commit of another length', { commit: 'abc' }, {}, /commit|sha|answer/],
  ['bytes that are not as promised', {}, { corrupts: true }, 'is not what the hub has'],
  ['an answer without facts', {}, { hidesFacts: true }, /path|origin/, 'accepted'],
  ['500 for ever', {}, { refuse: { status: 500, times: 99 } }, /500/],
  ['a redirect to nowhere', {}, { refuse: { status: 302, times: 99 } }, /302|redirect|location/i],
  ['a teapot', {}, { refuse: { status: 418, times: 99 } }, /418/],
]

export const rows: readonly Row[] = [
  ...table.map(
    ([name, model, mischief, says, exit = 'refused']): Row => ({
      name,
      read: (folder) => fetched(folder, model, mischief),
      exit,
      says,
    }),
  ),
  ...['org/other', 'org/m@nope'].map(
    (id): Row => ({
      name: `a model that is not there: ${id}`,
      read: (folder) => fetched(folder, {}, {}, id),
      exit: 'refused',
      says: /org/,
    }),
  ),
]
