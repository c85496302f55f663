import { UsageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { cleanText } from '../../domain/text.ts'

/** A file or folder of Python, and not the name of a module. */
export function isImportPath(word: string): boolean {
  return /[/\\]|\.py$/.test(word)
}

/** What a target imports before it opens a model. */
export function listImports({ options }: Target): readonly string[] {
  return options.import?.split(',') ?? []
}

/** A module's name as Python writes it, or a path. */
export function checkImports(target: Target): void {
  const wrong = listImports(target).find((word) => !isImportPath(word) && !MODULE.test(word))
  if (wrong === undefined) return
  const found = `import=${cleanText(wrong, 120)} of target "${target.name}"`
  throw new UsageError('target', `${found}; expected the name of a Python module, or a path such as ./my_backend.py`)
}

const MODULE = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*$/u
