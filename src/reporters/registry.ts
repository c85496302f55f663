import { resolve } from 'node:path'
import { setVariables } from '../domain/environment.ts'
import { UsageError } from '../domain/errors.ts'
import type { Reporter } from '../domain/run.ts'
import { unknown } from '../domain/suggest.ts'
import { type ReporterContext, type TextStream, writeAll } from './context.ts'
import { checkReportFile, writeReportFile } from './report-file.ts'

interface Outlet {
  /** For people: stdout, or stderr where a document has stdout for itself. */
  readonly screen: TextStream
  /** For documents: the file that was named, or stdout. */
  readonly write: (chunks: Iterable<string>) => Promise<void>
  readonly file: string | null
}

interface ReporterKind {
  /** Writes a document: to its file, or alone on stdout. */
  readonly document: boolean
  create(outlet: Outlet, context: ReporterContext): Promise<Reporter>
}

const REPORTERS: Readonly<Record<string, ReporterKind>> = {
  terminal: {
    document: false,
    create: async ({ screen }, context) => new (await import('./terminal.ts')).TerminalReporter(screen, context),
  },
  json: {
    document: true,
    create: async ({ write }) => new (await import('./json.ts')).JsonReporter(write),
  },
  junit: {
    document: true,
    create: async ({ write }) => new (await import('./junit.ts')).JunitReporter(write),
  },
  github: {
    document: false,
    create: async ({ screen, file }, { env }) =>
      new (await import('./github.ts')).GithubReporter(screen, file ?? setVariables(env).GITHUB_STEP_SUMMARY),
  },
}

export const REPORTER_NAMES: readonly string[] = Object.keys(REPORTERS)

interface Wanted {
  readonly spec: string
  readonly name: string
  readonly kind: ReporterKind
  readonly file: string | null
}

/** Reporters from `name[:file]`; a document without a file gets stdout, and then everything else goes to stderr. */
export async function createReporters(specs: readonly string[], context: ReporterContext): Promise<Reporter[]> {
  const wanted = specs.map(parseSpec)
  const onStdout = wanted.filter(({ kind, file }) => kind.document && file === null)
  if (onStdout.length > 1) throw crowded(onStdout)
  const screen = onStdout.length > 0 ? context.stderr : context.stdout
  for (const { name, file } of wanted) if (file !== null) await checkReportFile(name, file, context.cwd)
  return Promise.all(wanted.map(({ kind, file }) => kind.create(outletOf(file, screen, context), context)))
}

function parseSpec(spec: string): Wanted {
  const colon = spec.indexOf(':')
  const name = colon < 0 ? spec : spec.slice(0, colon)
  const file = colon < 0 ? null : spec.slice(colon + 1)
  const kind = Object.hasOwn(REPORTERS, name) ? REPORTERS[name] : undefined
  if (!kind) throw unknown('reporter', `reporter "${name}"`, name, Object.keys(REPORTERS))
  if (file === '')
    throw new UsageError('reporter', `reporter "${spec}" names no file after the colon; write ${name}:<file>`)
  if (name === 'terminal' && file !== null) {
    throw new UsageError(
      'reporter',
      `reporter "${spec}": terminal writes to the terminal; redirect the output to keep it`,
    )
  }
  return { spec, name, kind, file }
}

function crowded(wanted: readonly Wanted[]): UsageError {
  const names = wanted.map(({ spec }) => spec).join(' and ')
  return new UsageError(
    'reporter',
    `reporters ${names} both want stdout; give one a file, such as ${wanted[1]!.name}:report`,
  )
}

function outletOf(file: string | null, screen: TextStream, { stdout, cwd }: ReporterContext): Outlet {
  if (file !== null) {
    const path = resolve(cwd, file)
    return { screen, file: path, write: (chunks) => writeReportFile(path, chunks) }
  }
  return { screen, file, write: (chunks) => writeChunks(stdout, chunks) }
}

async function writeChunks(stream: TextStream, chunks: Iterable<string>): Promise<void> {
  for (const chunk of chunks) await writeAll(stream, chunk)
}
