import { cleanProse } from '../domain/text.ts'
import type { Asked, Invocation } from '../library/invocation.ts'
import { DEFAULT_GLOB } from '../suites/onnx/discover.ts'

export function askedFor(command: Asked['command'], paths: readonly string[], options: Record<string, unknown>): Asked {
  return { command, cwd: process.cwd(), paths, options, environment: process.env }
}

export function notice(text: string): void {
  process.stderr.write(`${text}\n`)
}

export function complain(text: string): void {
  process.stderr.write(`assay: ${cleanProse(text)}\n`)
}

export function whyNothing({ paths, values }: Invocation): string {
  const { keyword, pattern } = values
  const selection = [keyword !== undefined && `-k "${keyword}"`, pattern !== undefined && `-t "${pattern}"`].filter(
    Boolean,
  )
  const where = paths.length > 0 ? paths.join(' ') : DEFAULT_GLOB
  if (selection.length > 0) return `no case of ${where} matches ${selection.join(' and ')}; assay list prints all ids`
  if (paths.length > 0) return `no .onnx file in ${where}`
  return `no file matches ${where}; give an .onnx file, a folder or a quoted glob`
}
