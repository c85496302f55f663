import { StageError } from '../../domain/errors.ts'
import { HARDWARE_KEYS, type HardwareKey, type Target } from '../../domain/target.ts'
import type { ArgvTemplate, Toolchain } from './definition.ts'
import { HARDWARE_PLACEHOLDERS, placeholdersIn, type TemplateValues } from './template.ts'

type HardwareName = (typeof HARDWARE_PLACEHOLDERS)[number]
type HardwareValues = Pick<TemplateValues, HardwareName>

/** What a target says about its hardware; an error where the tools use what it does not say. */
export function hardwareValues({ name, argv }: Toolchain, { options, files = {} }: Target): HardwareValues {
  const values: Partial<Record<HardwareName, string | undefined>> = {
    hw: options.hw,
    hw_file: files.hw?.path,
    chip: options.chip,
    chip_file: files.chip?.path,
    board: options.board,
  }
  const used = placeholdersIn(wordsOf(argv))
  const missing = HARDWARE_PLACEHOLDERS.find((each) => used.includes(each) && values[each] === undefined)
  if (missing)
    throw new StageError('compile', `toolchain ${name} uses {${missing}}, ${whatIsMissing(missing, options)}`)
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given)
}

/** Of hardware type, chip and board what its tools are told. */
export function hardwareUsed({ argv }: Toolchain): HardwareKey[] {
  const used = placeholdersIn(wordsOf(argv))
  return HARDWARE_KEYS.filter((key) => used.includes(key) || used.includes(`${key}_file`))
}

function wordsOf(argv: Toolchain['argv']): ArgvTemplate {
  return [...(argv.import ?? []), ...argv.compile, ...argv.run]
}

function whatIsMissing(name: HardwareName, options: Target['options']): string {
  const key = name.replace('_file', '')
  const isFile = key !== name
  if (isFile && options[key] !== undefined) {
    return `but ${key}=${options[key]} is only a name; give its JSON file, as in ${key}=${key}s/${options[key]}.json`
  }
  return `but the target does not give it; use ${key}=${isFile ? `${key}s/a.json` : '…'}`
}
