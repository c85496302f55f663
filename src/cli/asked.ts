import type { Asked, Invocation } from '../library/invocation.ts'
import { defaultGlobs } from '../suites/tensors/discover-models.ts'
import type { CommandIo } from './io.ts'

export function askedFor(
  command: Asked['command'],
  paths: readonly string[],
  options: Record<string, unknown>,
  { cwd, env }: CommandIo,
): Asked {
  return { command, cwd, paths, options, environment: env }
}

export function whyNothing({ paths, cwd, values }: Invocation): string {
  const { keyword, pattern } = values
  const selection = [keyword !== undefined && `-k "${keyword}"`, pattern !== undefined && `-t "${pattern}"`].filter(
    Boolean,
  )
  const where = (paths.length > 0 ? paths : defaultGlobs(cwd)).join(' ')
  if (selection.length > 0) return `no case of ${where} matches ${selection.join(' and ')}; assay list prints all ids`
  if (paths.length > 0) return `no .onnx file in ${where}`
  return `no file matches ${where}; give an .onnx file, a folder or a quoted glob`
}
