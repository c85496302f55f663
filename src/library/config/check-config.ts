import { UsageError } from '../../domain/errors.ts'
import { isObject } from '../../domain/json.ts'
import { checkKeys, checkWritten, fileKeys } from '../../options/in-file.ts'
import type { SuiteKind } from '../../suites/contract.ts'
import { SUITES } from '../../suites/registry.ts'
import { readContent } from '../../suites/section-content.ts'
import { configSections, topLevelOptions } from '../../suites/tables.ts'
import type { AssayConfig } from './assay-config.ts'

/** Refuses what no option and no section has; says where, and what was meant. */
export async function checkConfig(
  raw: unknown,
  where: string,
  kinds: readonly SuiteKind[] = SUITES,
): Promise<AssayConfig> {
  if (!isObject(raw)) {
    throw new UsageError('config', `${where} must export an object; wrap it in defineConfig({ … })`)
  }
  const sections = configSections(kinds)
  const options = topLevelOptions(kinds)
  checkKeys(Object.keys(raw), [...sections.map(({ key }) => key), ...fileKeys(options)], where)
  checkWritten(options, raw, `${where}: `)
  for (const { key, load } of sections) {
    const written = readContent(raw, key)
    if (written !== undefined) (await load()).check(written, where)
  }
  return raw
}
