import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TraceComparison } from '../../compare/contract.ts'
import type { OutputResult } from '../../domain/result.ts'
import type { Lab } from '../../runs/contract.ts'

/** Where inside a model two sides differ. */
export interface ModuleFinding {
  readonly hint: string | null
  readonly measurements: Readonly<Record<string, string | number>>
}

const FILE = 'modules.json'

/** Says which module is over its limit first, in the order in which they compute, and keeps the figures of all. */
export async function describeModules(
  { outputs }: TraceComparison,
  ofWhole: ReadonlySet<string>,
  lab: Lab,
): Promise<ModuleFinding> {
  const modules = outputs.filter(({ name }) => !ofWhole.has(name))
  const wrong = modules.filter(({ verdict }) => verdict === 'fail')
  await keep(modules, lab)
  const counts = { 'modules.compared': modules.length, 'modules.over': wrong.length }
  const [first] = wrong
  if (!first) return { hint: 'no module is over its limit: suspect code outside the modules', measurements: counts }
  const hint = `the first module over its limit is ${first.name} (${wrong.length} of ${modules.length} are)`
  return { hint, measurements: { ...counts, 'modules.first': first.name } }
}

/** One line for each, so that they can be sorted and drawn. */
async function keep(modules: readonly OutputResult[], lab: Lab): Promise<void> {
  const rows = modules.map(({ name, verdict, dtype, shape, metrics, mismatches }) => {
    const figures = Object.fromEntries(metrics.map((metric) => [metric.name, figure(metric.value)]))
    return JSON.stringify({ name, verdict, dtype, shape, mismatches, ...figures })
  })
  const { folder } = await lab.step({ title: 'list the modules', stage: 'compare', key: null }, async (place) => {
    await writeFile(join(place, FILE), `[\n${rows.join(',\n')}\n]\n`)
    return {}
  })
  await lab.keep(FILE, join(folder, FILE))
}

function figure(value: number | null): number | string | null {
  return value === null || Number.isFinite(value) ? value : String(value)
}
