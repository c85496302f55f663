import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { compareVersions } from '../../runtimes/install/version-order.ts'
import { askPython } from '../../runtimes/python/ask-python.ts'
import { PYTHON_NEEDED } from '../../runtimes/python/engines.ts'
import { locate } from '../../runtimes/python/find-python.ts'

interface BasePython {
  readonly path: string
  readonly version: string
}

/** A Python that an environment can be made from. */
export async function basePython(
  named: string | undefined,
  folder: string,
  environment: Environment,
): Promise<BasePython> {
  const path = find(named, (name) => locate(name, folder, environment))
  const facts = await askPython(path, [], ['venv', 'ensurepip'])
  if (facts instanceof Error) throw new UsageError('install', `${path} does not work: ${facts.message}`)
  refuseAge(path, facts.python)
  if (facts.modules.venv && facts.modules.ensurepip) return { path, version: facts.python }
  throw new UsageError(
    'install',
    `Python ${facts.python} (${path}) cannot make environments because it lacks ensurepip; ` +
      'on Debian and Ubuntu run: apt install python3-venv',
  )
}

function find(named: string | undefined, located: (name: string) => string | null): string {
  const path = named === undefined ? (located('python3') ?? located('python')) : located(named)
  if (path !== null) return path
  const { least } = PYTHON_NEEDED
  throw new UsageError(
    'install',
    named === undefined
      ? `there is no python3 in PATH; install Python ${least} or newer, or name one with --python`
      : `there is no program "${named}"; --python takes the path of a Python, or its name in PATH`,
  )
}

function refuseAge(path: string, version: string): void {
  const { least, newest } = PYTHON_NEEDED
  const [major, minor] = version.split('.')
  const isNewer = compareVersions(`${major}.${minor}.0`, `${newest}.0`) > 0
  if (compareVersions(version, `${least}.0`) >= 0 && !isNewer) return
  throw new UsageError(
    'install',
    `${path} is Python ${version}; the versions that Assay is tested with are published for ${least} to ${newest}. ` +
      'Name such a Python with --python',
  )
}
