import type { UsageError } from '../../domain/errors.ts'
import { nearest, suggest } from '../../domain/suggest.ts'
import { TOOL_STAGES, type Toolchain, type ToolStage } from './definition.ts'
import { HARDWARE_PLACEHOLDERS, PLACEHOLDERS, placeholdersIn } from './template.ts'

type Problem = (text: string) => UsageError

/** What a stage may use besides the hardware's, and of each group at least one. */
const ALLOWED: Readonly<Record<ToolStage, readonly string[]>> = {
  import: ['model', 'imported', 'ir_dir'],
  compile: ['model', 'imported', 'artifact', 'ir_dir'],
  run: ['model', 'imported', 'artifact', 'inputs', 'input', 'outputs', 'output'],
}

/** Refuses placeholders that are unknown, out of place or missing, before anything runs. */
export function checkTemplates(toolchain: Toolchain, problem: Problem): void {
  const { argv, version } = toolchain
  for (const name of placeholdersIn(version ?? [])) {
    throw problem(`version has {${name}}, but takes no placeholders${braceHint(name)}`)
  }
  for (const stage of TOOL_STAGES) {
    const template = argv[stage]
    if (template === null) continue
    const used = placeholdersIn(template)
    for (const name of used) checkKnown(name, stage, toolchain, problem)
    for (const group of needed(stage, toolchain)) checkHas(group, used, stage, problem)
    checkProgram(template[0], stage, problem)
    for (const item of template) checkRepeated(item, stage, problem)
  }
  const writesIr = placeholdersIn([...argv.compile, ...(argv.import ?? [])]).includes('ir_dir')
  if (toolchain.ir.length > 0 && !writesIr) throw problem('ir names files in {ir_dir}, which compile does not mention')
}

function checkKnown(name: string, stage: ToolStage, { argv, tensors }: Toolchain, problem: Problem): void {
  const allowed: readonly string[] = [...ALLOWED[stage], ...HARDWARE_PLACEHOLDERS]
  if (!PLACEHOLDERS.some((known) => known === name)) throw problem(unknownPlaceholder(name, stage, allowed))
  if (!allowed.includes(name)) {
    const where = TOOL_STAGES.filter((other) => ALLOWED[other].includes(name)).join(' and ')
    throw problem(`${stage} has {${name}}, which can be used only in ${where}`)
  }
  if (name === 'imported' && argv.import === null) throw problem(`${stage} has {imported}, but there is no import`)
  if (tensors === 'safetensors' && (name === 'input' || name === 'output')) {
    throw problem(`${stage} has {${name}}, but with safetensors one file holds all: {${name}s}`)
  }
}

function unknownPlaceholder(name: string, stage: ToolStage, allowed: readonly string[]): string {
  const near = nearest(name, allowed)
  const hint = suggest(near && `{${near}}`, `known: ${allowed.map((known) => `{${known}}`).join(' ')}`)
  if (name === '{' || name === '}')
    return `${stage} has a "${name}" that is not part of a placeholder${braceHint(name)}`
  return `${stage} has the unknown placeholder {${name}}; ${hint} For a literal brace write {{`
}

function braceHint(name: string): string {
  return name === '{' || name === '}' ? `; for a literal brace write ${name}${name}` : ''
}

function needed(stage: ToolStage, { argv }: Toolchain): string[][] {
  if (stage === 'import') return [['model'], ['imported']]
  if (stage === 'compile') return [[argv.import ? 'imported' : 'model'], ['artifact']]
  return [['artifact'], ['input', 'inputs'], ['output', 'outputs']]
}

function checkHas(group: readonly string[], used: readonly string[], stage: ToolStage, problem: Problem): void {
  if (group.some((name) => used.includes(name))) return
  throw problem(`${stage} does not mention ${group.map((name) => `{${name}}`).join(' or ')}, so it cannot do its work`)
}

/** A compiler may make a program: then that is what runs. */
function checkProgram(first: unknown, stage: ToolStage, problem: Problem): void {
  const used = typeof first === 'string' ? placeholdersIn([first]) : []
  if (used.length === 0 || (stage === 'run' && used.every((name) => name === 'artifact'))) return
  throw problem(`${stage} begins with {${used[0]}}, expected the name or path of a program`)
}

function checkRepeated(item: string | readonly string[], stage: ToolStage, problem: Problem): void {
  const used = placeholdersIn([item])
  if (used.includes('input') && used.includes('output')) {
    throw problem(
      `${stage} has {input} and {output} in one argument; an argument can be repeated for inputs or for outputs, not both`,
    )
  }
}
