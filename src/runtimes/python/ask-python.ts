import { execFile } from 'node:child_process'

/**
 * Looks without importing, since some of these take seconds to import. The current folder must not answer for a library;
 * -I would also hide what is installed for the user alone, and the worker finds that.
 */
const SCRIPT = `
import sys
sys.path[:] = [place for place in sys.path if place]
import importlib.metadata, importlib.util, json
asked = json.loads(sys.argv[1])
def version(name):
    try: return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError: return None
def here(name):
    try: return importlib.util.find_spec(name) is not None
    except ImportError: return False
print(json.dumps({
    "python": "%d.%d.%d" % sys.version_info[:3],
    "packages": {name: version(name) for name in asked["packages"]},
    "modules": {name: here(name) for name in asked["modules"]},
}))`

export interface PythonFacts {
  readonly python: string
  /** Package → version; null: it is not installed. */
  readonly packages: Readonly<Record<string, string | null>>
  readonly modules: Readonly<Record<string, boolean>>
}

const LIMIT_MS = 30_000

/** What an interpreter is and has; an Error in the interpreter's own words where it does not answer. */
export function askPython(
  path: string,
  packages: readonly string[],
  modules: readonly string[],
): Promise<PythonFacts | Error> {
  const asked = JSON.stringify({ packages, modules })
  return new Promise((resolve) => {
    execFile(path, ['-c', SCRIPT, asked], { timeout: LIMIT_MS }, (error, stdout, stderr) => {
      if (error) return resolve(new Error(lastLine(stderr) || error.message))
      resolve(factsIn(stdout))
    })
  })
}

/** Whatever a site's own start-up files print comes before. */
function factsIn(stdout: string): PythonFacts | Error {
  try {
    return JSON.parse(lastLine(stdout)) as PythonFacts
  } catch {
    return new Error(`it printed ${JSON.stringify(stdout.slice(0, 80))}, expected an answer in JSON`)
  }
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}
