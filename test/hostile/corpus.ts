import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, project } from '../support/assay.ts'
import { assayAlone } from './alone.ts'

/** One input that nobody would write who means well, and what must become of it. */
export interface Row {
  readonly name: string
  /** Lays it into a folder of its own. */
  readonly make?: (folder: string) => unknown
  /** Reads it in this process, or … */
  readonly read?: (folder: string) => unknown
  /** … a command line reads it: here, or in a process of its own where a hang can be ended and memory measured. */
  readonly args?: readonly string[]
  readonly alone?: true
  /** Of a reader: whether it takes the input; of a command line: its exit code. */
  readonly exit: 'refused' | 'accepted' | 0 | 1 | 2 | 4 | 5
  /** Part of what is said, or of what was read. */
  readonly says: RegExp | string
  /** At most so much processor time: a hang or a blow-up takes far more, a healthy reader far less. */
  readonly seconds?: number
  readonly megabytes?: number
}

interface Outcome {
  readonly exit: Row['exit'] | number | string
  readonly text: string
  readonly seconds: number
  readonly megabytes: number
}

const SECONDS = 10
const MEGABYTES = 1024
/** Nobody reads more of a test that failed. */
const SHOWN_LENGTH = 5000
const DOCUMENTED = ['FormatError', 'UsageError', 'StageError', 'SkipCase', 'ProtocolError', 'BoardError']

const outcomes = new Map<Row, Outcome>()

/** What became of all rows so far. */
export function figuresOf(): Readonly<Record<string, number | string>> {
  const [rows, all] = [[...outcomes.keys()], [...outcomes.values()]]
  const isAccepted = ({ exit }: Outcome) => exit === 'accepted' || exit === 0
  return {
    inputs: rows.length,
    'through the command line': rows.filter(({ args }) => args).length,
    refused: all.filter((outcome) => !isAccepted(outcome)).length,
    accepted: all.filter(isAccepted).length,
    'exit 3': all.filter(({ exit }) => exit === 3).length,
    signals: all.filter(({ exit }) => String(exit).startsWith('SIG')).length,
    slowest: `${Math.max(...all.map(({ seconds }) => seconds)).toFixed(1)} s`,
    largest: `${Math.ceil(Math.max(...all.map(({ megabytes }) => megabytes)))} MB`,
  }
}

/** A test for each row of a group. */
export function testRows(group: string, rows: readonly Row[]): void {
  let folder: string
  test.each(rows.map((row, number) => [row.name, row, number] as const))(`${group}: %s`, async (_, row, number) => {
    folder ??= project()
    const own = join(folder, String(number))
    mkdirSync(own)
    await row.make?.(own)
    const outcome = row.args ? await commandOutcome(row, row.args, own) : await readerOutcome(row, own)
    outcomes.set(row, outcome)
    checkOutcome(row, outcome)
  })
}

function checkOutcome({ exit, says, seconds = SECONDS, megabytes = MEGABYTES }: Row, outcome: Outcome): void {
  const isSaid = typeof says === 'string' ? outcome.text.includes(says) : says.test(outcome.text)
  const found = { exit: outcome.exit, says: isSaid ? says : outcome.text.slice(0, SHOWN_LENGTH) }
  expect(found).toEqual({ exit, says })
  expect(outcome.text).not.toMatch(/^ {4}at |internal error|bug in Assay/m)
  expect(outcome.seconds).toBeLessThan(seconds)
  expect(outcome.megabytes).toBeLessThan(megabytes)
}

/** What a command line prints is shown on terminals and read by CI systems. */
async function commandOutcome(row: Row, args: readonly string[], folder: string): Promise<Outcome> {
  const { ran, seconds, megabytes } = row.alone
    ? await assayAlone(args, folder, row.megabytes ?? MEGABYTES)
    : await measured(() => assay(args, folder))
  const text = `${ran.stdout}${ran.stderr}`
  expect(text).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]|^\s*::\w|##vso\[/m)
  return { exit: ran.signal ?? ran.code ?? 'nothing', text, seconds, megabytes }
}

async function readerOutcome({ read }: Row, folder: string): Promise<Outcome> {
  const { ran, seconds, megabytes } = await measured(async () => {
    try {
      return { exit: 'accepted', text: shown(await read!(folder)) } as const
    } catch (error) {
      return refusalOf(error)
    }
  })
  return { ...ran, seconds, megabytes }
}

function refusalOf(error: unknown): Pick<Outcome, 'exit' | 'text'> {
  if (!(error instanceof Error) || !DOCUMENTED.includes(error.name)) {
    return { exit: 'crashed', text: error instanceof Error ? String(error.stack) : String(error) }
  }
  return { exit: 'refused', text: error.message }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item)) ?? 'nothing'
}

/** Processor time, so that others who use the machine do not count. */
async function measured<T>(work: () => Promise<T>): Promise<{ ran: T; seconds: number; megabytes: number }> {
  const [cpu, before] = [process.cpuUsage(), process.memoryUsage.rss()]
  const ran = await work()
  const { user, system } = process.cpuUsage(cpu)
  const megabytes = Math.max(0, process.memoryUsage.rss() - before) / 2 ** 20
  return { ran, seconds: (user + system) / 1e6, megabytes }
}
