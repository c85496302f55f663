import type { z } from 'zod'
import { FormatError, UsageError } from '../../domain/errors.ts'
import { isObject } from '../../domain/json.ts'
import { suggest } from '../../domain/suggest.ts'
import { nearFile } from '../disk/near-file.ts'
import { readText } from '../disk/regular-file.ts'
import { readShape } from './json-shape.ts'

const LARGEST = 2 ** 28

/** Reads a file of ours; says which field is not as it should be. */
export async function readCheckedJson<T>(path: string, schema: z.ZodType<T>, version: string): Promise<T> {
  const raw = await readJson(path)
  const found = isObject(raw) ? raw.schema : undefined
  if (found !== version) {
    const what = found === undefined ? 'no schema' : `schema ${JSON.stringify(found)}`
    throw new FormatError('schema', `${path} has ${what}, expected "${version}"; give a file that this version wrote`)
  }
  return readShape(schema, raw, (problem) => new FormatError('json', `${path}: ${problem}; write the file again`))
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readText(path, LARGEST))
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new FormatError('json', `${path} is not JSON; write it again`, { cause: error })
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EISDIR') throw error
    const hint = suggest(nearFile(path), 'give the path of one')
    throw new UsageError('file', `${path} is not a file; ${hint}`, { cause: error })
  }
}
