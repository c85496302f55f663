import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { run } from '../../src/cli/program.ts'
import type { Result } from '../../src/domain/result.ts'
import type { RunHeader, Summary } from '../../src/domain/run.ts'
import { WarmWorkers } from '../../src/runtimes/host/warm-workers.ts'
import type { SuiteKind } from '../../src/suites/contract.ts'
import { atFileEnd } from './file-end.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
export const main = join(root, 'dist/cli/main.js')
export const fixtures = join(root, 'test/fixtures')

export interface Ran {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface JsonReport {
  readonly schema: string
  readonly run: RunHeader
  readonly results: readonly Result[]
  readonly summary: Summary
}

/** A new folder that is removed when the test file is done. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `assay ${name} `))
  atFileEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A new project folder in which the repository's own runtimes are found as a user's would be. */
export function project(files: Record<string, string | Uint8Array> = {}): string {
  const folder = temporaryFolder('e2e')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

export function copyFixture(name: string, to: string): void {
  cpSync(join(fixtures, name), to, { recursive: true })
}

type Environment = Readonly<Record<string, string | undefined>>

let workers: WarmWorkers | null = null

/** They serve every command of a test file. */
function warmWorkers(): WarmWorkers {
  if (workers === null) atFileEnd(closeWorkers)
  workers ??= new WarmWorkers()
  return workers
}

/** Ends those that wait for more work. */
export async function closeWorkers(): Promise<void> {
  await workers?.close()
  workers = null
}

/** Collects what a command prints. */
class KeptText extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk
    done()
  }
}

/** A command line that runs in this process, as a person would have it, but on whole models alone unless layers are asked for. */
export function beginAssay(args: readonly string[], cwd: string, env: Environment = {}, suites?: readonly SuiteKind[]) {
  const [stdout, stderr] = [new KeptText(), new KeptText()]
  const signals = new EventEmitter()
  const stdin = Readable.from([])
  const io = { cwd, env: environmentOf(env), stdin, stdout, stderr, signals, workers: warmWorkers() }
  const end = async (): Promise<Ran> => {
    return { code: await run(args, io, suites), signal: null, stdout: stdout.text, stderr: stderr.text }
  }
  return { end: end(), stdout, stderr, interrupt: () => signals.emit('SIGINT') }
}

/** Runs a command line in this process to its end. */
export function assay(args: readonly string[], cwd: string, env: Environment = {}): Promise<Ran> {
  return beginAssay(args, cwd, env).end
}

type RunningAssay = ChildProcessByStdio<null, Readable, Readable>

/** Starts the built command line as a process of its own: for signals, pipes, exit codes and memory. */
export function startAssay(args: readonly string[], cwd: string, env: Environment = {}): RunningAssay {
  return spawn(process.execPath, [main, ...args], { cwd, env: environmentOf(env), stdio: ['ignore', 'pipe', 'pipe'] })
}

/** As a person has it: without what a test runner or a CI system sets. */
function environmentOf(changes: Environment): Environment {
  const others = Object.entries(process.env).filter(([name]) => !/^(CI|GITHUB_|FORCE_COLOR|ASSAY_)/.test(name))
  const all = { ...Object.fromEntries(others), NO_COLOR: '1', ASSAY_SCOPE: 'full', ...changes }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** Waits for the end of a process and of what it prints. */
export function ended(child: RunningAssay): Promise<Ran> {
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
}

/** Runs with `--json` and reads what it printed. */
export async function assayJson(
  args: readonly string[],
  cwd: string,
  env: Environment = {},
): Promise<JsonReport & { code: number | null; stderr: string }> {
  const ran = await assay([...args, '--json'], cwd, env)
  try {
    return { ...(JSON.parse(ran.stdout) as JsonReport), code: ran.code, stderr: ran.stderr }
  } catch (error) {
    throw new Error(`not JSON (exit ${ran.code}): ${ran.stdout.slice(0, 500)}\n${ran.stderr}`, { cause: error })
  }
}
