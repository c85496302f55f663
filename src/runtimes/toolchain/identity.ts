import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { StageError } from '../../domain/errors.ts'
import { computeDigest, sha256File } from '../../files/disk/digest.ts'
import { compileGlob, globRoot, isGlob, walkFiles } from '../../files/disk/glob.ts'
import { processorIdentity } from '../fingerprint.ts'
import { locateProgram } from '../process/locate-program.ts'
import { TOOL_STAGES, type Toolchain } from './definition.ts'
import { placeholdersIn } from './template.ts'

/** The programs of all stages, found; what the compiler makes itself is not there yet. */
export function listPrograms({ argv, version, cwd }: Toolchain, environment: Environment): string[] {
  const templates = [version, ...TOOL_STAGES.map((stage) => argv[stage])].filter((template) => template !== null)
  const names = templates.map(([program]) => program).filter((program) => typeof program === 'string')
  return [...new Set(names)]
    .filter((name) => placeholdersIn([name]).length === 0)
    .map((name) => locateProgram(name, cwd, environment.PATH))
}

/** All that the tools consist of, as far as anybody said: programs, scripts among the arguments, and `files`. */
export function filesOfToolchain(toolchain: Toolchain, environment: Environment): string[] {
  const { argv, cwd, files } = toolchain
  const paths = [...listPrograms(toolchain, environment), ...filesIn(argv, cwd), ...(files ?? []).flatMap(filesAt)]
  return [...new Set(paths.map((path) => realpathSync(path)))].sort()
}

/** Stands for all that decides what the tools compute; null where nobody said what they consist of. */
export async function identifyToolchain(
  toolchain: Toolchain,
  version: string,
  environment: Environment,
): Promise<string | null> {
  const { files, argv, tensors, env } = toolchain
  if (files === null) return null
  const digests: [string, string][] = []
  for (const path of filesOfToolchain(toolchain, environment)) digests.push([path, await sha256File(path)])
  const variables = env.map((name) => [name, environment[name] ?? null])
  return computeDigest({ version, argv, tensors, digests, variables, processor: processorIdentity() })
}

/** Arguments that are files, such as the script that an interpreter runs. */
function filesIn(argv: Toolchain['argv'], cwd: string): string[] {
  const words = TOOL_STAGES.flatMap((stage) => argv[stage] ?? []).flat()
  return words.map((word) => resolve(cwd, word)).filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
}

function filesAt(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile()) return [path]
  const root = found ? path : globRoot(path)
  const isThere = statSync(root, { throwIfNoEntry: false })?.isDirectory() && (found || isGlob(path))
  const matches = compileGlob(path)
  const files = isThere ? [...walkFiles(root)].filter((file) => found || matches.test(file)) : []
  if (files.length > 0) return files
  throw new StageError('compile', `files of the toolchain names ${path}, which does not exist`)
}
