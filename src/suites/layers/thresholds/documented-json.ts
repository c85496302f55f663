import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { isObject, toJson } from '../../../domain/json.ts'
import { writeFileAtomic } from '../../../files/disk/atomic.ts'
import { readText } from '../../../files/disk/regular-file.ts'
import { DOCUMENTED_METRICS, type DocumentedLayer } from './documented-values.ts'

/** `<model>-thresholds.json` as the other tool writes it: a number for each layer; null: not measured. */
export async function writeDocumentedJson(
  folder: string,
  model: string,
  layers: readonly DocumentedLayer[],
  metrics: readonly string[],
): Promise<string> {
  const path = join(folder, `${model}-thresholds.json`)
  await refuseOther(path)
  const content: Record<string, unknown> = { model_id: model }
  for (const metric of DOCUMENTED_METRICS.filter((known) => metrics.includes(known))) {
    content[metric] = Object.fromEntries(
      layers.map(({ name, values }) => [name, typeof values[metric] === 'number' ? values[metric] : null]),
    )
  }
  await writeFileAtomic(path, `${toJson(content, 2)}\n`)
  return path
}

/** Thresholds of a whole decoder have the same name. */
async function refuseOther(path: string): Promise<void> {
  if (!existsSync(path)) return
  const found = parse(await readText(path))
  if (isObject(found) && 'model_id' in found) return
  throw new UsageError('output', `${path} is another file, such as thresholds of whole models; give another --output`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
