import { resolve } from 'node:path'
import type { Toolchain, ToolchainSettings, Toolchains } from './definition.ts'
import { readToolchain } from './read-toolchain.ts'

/** Compilers that are plain command lines, by name, as a configuration has them. */
type ToolchainSection = Readonly<Record<string, ToolchainSettings>>

/** The toolchains of a configuration, checked; `where` says in errors what names them. */
export function readToolchains(toolchains: Readonly<Record<string, unknown>>, cwd: string, where = ''): Toolchains {
  const read = (name: string, given: unknown): [string, Toolchain] => [
    name,
    readToolchain(name, given, cwd, `toolchains.${name}${where && ` in ${where}`}`),
  ]
  return Object.fromEntries(Object.entries(toolchains).map(([name, given]) => read(name, given)))
}

/** The same with paths that do not depend on where a command is started. */
export function locatedToolchains(toolchains: ToolchainSection, folder: string): ToolchainSection {
  const located = Object.entries(toolchains).map(([name, given]) => {
    const files = given.files?.map((file) => resolve(folder, file))
    return [name, { ...given, cwd: resolve(folder, given.cwd ?? '.'), ...(files && { files }) }]
  })
  return Object.fromEntries(located)
}
