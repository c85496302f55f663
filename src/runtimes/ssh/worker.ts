import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { makeScratch } from '../process/scratch-folder.ts'
import { ProtocolError } from '../protocol/frame.ts'
import { endWithHost } from '../worker/end-with-host.ts'
import { readOrder } from '../worker/read-order.ts'
import { BoardError } from './board-command.ts'
import { BoardFolder } from './board-folder.ts'
import { BoardLine } from './board-line.ts'
import { startScript } from './board-script.ts'
import { packDeployment } from './deployment.ts'
import { describeHolder } from './describe-holder.ts'
import { HostLink } from './host-link.ts'
import type { BoardOrder } from './order.ts'
import { Relay } from './relay.ts'
import { parseHolder } from './replies.ts'
import { Runner, type RunnerEnd } from './runner.ts'

const POLL_MS = 1000
const LAST_ANSWERS_MS = 1000

/** Stands between the host and a program on a board. */
async function main(order: BoardOrder): Promise<void> {
  const host = new HostLink()
  endWithHost(() => process.exit(1))
  const end = await bridge(order, host).catch((error: unknown): RunnerEnd => {
    if (error instanceof BoardError) return { reason: error.message }
    if (error instanceof ProtocolError) return { reason: `the runner broke the protocol: ${error.message}` }
    throw error
  })
  if (end) await host.notify('end', end)
  await host.flush()
  await rm(order.scratch, { recursive: true, force: true })
  process.exit(end ? 1 : 0)
}

/** Why the board can no longer be used; null: the host is done. */
async function bridge(order: BoardOrder, host: HostLink): Promise<RunnerEnd | null> {
  makeScratch(order.scratch)
  const start = startScript(order.token, order.argv, variablesOf(order.env))
  const { lease, folder, token, owner, name, who, ttlSeconds } = order
  const session = { token, owner, name, who, ttlSeconds, start }
  const { line, facts } = await BoardLine.open(order.connection, { lease, folder, session })
  try {
    const path = await takeBoard(line, order, host)
    const beating = setInterval(() => line.beat(), (ttlSeconds * 1000) / 4)
    const board = new BoardFolder(order.connection, path)
    const work = useBoard(order, host, line, board, facts)
    return await Promise.race([work, line.ended, takenAway(line, order)]).finally(() => {
      clearInterval(beating)
      void board.close()
    })
  } finally {
    await line.close()
  }
}

/** The new holder needs the board, so this run does not retry. */
async function takenAway(line: BoardLine, { address }: BoardOrder): Promise<RunnerEnd> {
  await line.lost
  return { reason: `the board ${address} was taken away: its lease was freed or had expired`, final: true }
}

/** Resolves with the session's folder on the board. */
async function takeBoard(line: BoardLine, order: BoardOrder, host: HostLink): Promise<string> {
  const startedAt = performance.now()
  let told = ''
  for (;;) {
    const reply = await line.take()
    if (reply.word === 'taken') return reply.rest
    if (reply.word === 'twice') throw new BoardError(usedTwice(order, reply.rest))
    const holder = parseHolder(reply)
    const waited = (performance.now() - startedAt) / 1000
    if (waited >= order.waitSeconds)
      throw new BoardError(`${order.address} is ${describeHolder(holder)}${remedy(order)}`)
    if (told !== holder.who && reply.word !== 'unborn')
      await host.notify('notice', { text: `${order.address} is ${describeHolder(holder)}; waiting` })
    told = holder.who
    await delay(POLL_MS)
  }
}

function usedTwice({ address }: BoardOrder, other: string): string {
  return `this run also names the board ${address} as ${other}; write its address and port the same way in all targets`
}

function remedy({ waitSeconds, address }: BoardOrder): string {
  const waited = waitSeconds > 0 ? `; waited ${waitSeconds} s for it (wait=)` : ''
  return `${waited}; to take it anyway: "assay boards free ssh:${address} --force"`
}

/** Rejects where the runner does not answer in time. */
async function late({ argv, startMs }: BoardOrder, introduced: Promise<void>): Promise<never> {
  const inTime = await Promise.race([introduced.then(() => true), delay(startMs, false, { ref: false })])
  if (!inTime) throw new BoardError(`the runner "${argv[0]}" on the board did not start within ${startMs} ms`)
  return new Promise(() => {})
}

async function useBoard(
  order: BoardOrder,
  host: HostLink,
  line: BoardLine,
  board: BoardFolder,
  facts: string,
): Promise<RunnerEnd | null> {
  const deployment = order.deploy === null ? null : await packDeployment(order.deploy)
  if (deployment) await board.deploy(deployment)
  const runner = new Runner(order.connection, board, line, order.argv[0]!)
  const identity = JSON.stringify([facts, deployment?.digest ?? null])
  const relay = new Relay(host, runner, board, { detail: { board: `${order.address} (${facts})` }, identity })
  const fromRunner = relay.fromRunner()
  const done = relay.fromHost(process.stdin).then(() => null)
  const ended = fromRunner.then(() => runner.end())
  const end = await Promise.race([done, ended, late(order, relay.introduced)])
  if (end !== null) return end
  runner.input.end()
  await Promise.race([fromRunner, delay(LAST_ANSWERS_MS)])
  return null
}

function variablesOf(entries: readonly string[]): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const entry of entries) {
    const at = entry.indexOf('=')
    const name = at < 0 ? entry : entry.slice(0, at)
    const value = at < 0 ? process.env[entry] : entry.slice(at + 1)
    if (value === undefined) throw new BoardError(`env=${name}: it is not set here; set it, or write env=${name}=value`)
    variables[name] = value
  }
  return variables
}

await main(await readOrder<BoardOrder>())
