import { resolve } from 'node:path'
import type { Toolchain, Toolchains } from '../runtimes/toolchain/definition.ts'
import { readToolchain } from '../runtimes/toolchain/read-toolchain.ts'
import type { AssayConfig } from './assay-config.ts'

/** The toolchains of a configuration, checked; `where` says in errors what names them. */
export function toolchainsOf(
  { toolchains = {} }: Pick<AssayConfig, 'toolchains'>,
  cwd: string,
  where = '',
): Toolchains {
  const read = (name: string, given: unknown): [string, Toolchain] => [
    name,
    readToolchain(name, given, cwd, `toolchains.${name}${where && ` in ${where}`}`),
  ]
  return Object.fromEntries(Object.entries(toolchains).map(([name, given]) => read(name, given)))
}

/** The same with paths that do not depend on where a command is started. */
export function locatedToolchains(
  toolchains: NonNullable<AssayConfig['toolchains']>,
  folder: string,
): NonNullable<AssayConfig['toolchains']> {
  const located = Object.entries(toolchains).map(([name, given]) => {
    const files = given.files?.map((file) => resolve(folder, file))
    return [name, { ...given, cwd: resolve(folder, given.cwd ?? '.'), ...(files && { files }) }]
  })
  return Object.fromEntries(located)
}
