// Judges the same project again and again in one process, each time in a copy of its own and with another operation on
// files that fails; prints a line of JSON for each. `node --import ./faulty-io.mjs judge-under-faults.mjs '{…}'`

import { EventEmitter } from 'node:events'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { run } from '../../dist.modules/cli/program.js'
import { latestRun, readRun } from '../../dist.modules/runs/record/read-run.js'
import { WarmWorkers } from '../../dist.modules/runtimes/host/warm-workers.js'
import { arm, canFail, disarm } from './faulty-io.mjs'

const { project, scratch, args, faults, share, swallows, only } = JSON.parse(process.argv[2])
const crashes = []
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => crashes.push(String(error?.stack ?? error)))
}

class KeptText extends Writable {
  text = ''
  _write(chunk, _encoding, done) {
    this.text += chunk
    done()
  }
}

const workers = new WarmWorkers()
/** Results are synced once a second; so it happens at the same operations in every run. */
const TICK_MS = 8
let runs = 0

async function judge(fault) {
  const folder = join(scratch, `${process.pid}-${++runs}`)
  mkdirSync(folder, { recursive: true })
  cpSync(project, folder, { recursive: true, verbatimSymlinks: true })
  const [stdout, stderr] = [new KeptText(), new KeptText()]
  // One home for all, so that all can have the same worker.
  const env = { PATH: process.env.PATH, HOME: scratch, NO_COLOR: '1', ASSAY_SCOPE: 'full' }
  const io = { cwd: folder, env, stdin: Readable.from([]), stdout, stderr, signals: new EventEmitter(), workers }
  arm({ root: folder, tickMs: TICK_MS, swallows, only, ...fault })
  const code = await run(args, io)
  await new Promise((resolve) => setImmediate(resolve))
  const { log, fired } = disarm()
  const record = await recordIn(join(folder, '.assay/runs'))
  rmSync(folder, { recursive: true, force: true })
  return {
    log,
    ran: { ...fault, fired, code, stdout: stdout.text, stderr: stderr.text, crashes: crashes.splice(0), record },
  }
}

async function recordIn(runs) {
  try {
    const newest = await latestRun(runs)
    if (newest === null) return null
    const { header, results, why } = await readRun(newest)
    const lines = results.map(({ id, verdict, error }) => ({ id, verdict, ...(error && { error: error.message }) }))
    return { state: header.state, problem: header.problem, exitCode: header.summary?.exitCode, lines, why }
  } catch (error) {
    return { unreadable: String(error) }
  }
}

const say = (fact) => process.stdout.write(`${JSON.stringify(fact)}\n`)

await judge({ at: 0 })
const { log, ran } = await judge({ at: 0 })
say({ operations: log.length, ran })
for (let at = 1 + share.index; at <= log.length; at += share.count) {
  for (const fault of faults) {
    if (canFail(log[at - 1], fault.fault)) say({ ran: (await judge({ at, ...fault })).ran })
  }
}
await workers.close()
process.exit()
