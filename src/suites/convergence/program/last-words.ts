import type { Readable } from 'node:stream'
import type { Clock } from '../../../domain/clock.ts'
import type { ProcessGroup } from '../../../runtimes/process/process-group.ts'
import type { ProgramChild } from './start-program.ts'

const TICK_MS = 50
const QUIET_MS = 500
const LONGEST_MS = 5000

/**
 * Reads both streams of an ended program to their end. Children that it left, such as the `tee` of a shell, may still pass on what it
 * printed; when they are quiet or take long they are killed, and when someone still holds the streams we let go of them.
 */
export async function readLastWords(child: ProgramChild, group: ProcessGroup, clock: Clock): Promise<string | null> {
  const streams = [child.stdout, child.stderr]
  const closed = Promise.all(streams.map(closing))
  let isCutOff = false
  const stopWatching = whenQuiet(streams, clock, (round) => {
    if (round === 0) return group.killRest()
    isCutOff = true
    for (const stream of streams) stream.destroy()
  })
  await closed
  stopWatching()
  group.killRest()
  return isCutOff
    ? 'a process that the program left behind kept its streams open; they were read until it was quiet'
    : null
}

function closing(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve()
    stream.on('close', resolve)
  })
}

/** Time that we ourselves keep a stream waiting does not count. */
function whenQuiet(streams: readonly Readable[], clock: Clock, act: (round: number) => void): () => void {
  let quietMs = 0
  let totalMs = 0
  let round = 0
  for (const stream of streams) {
    stream.on('data', () => {
      quietMs = 0
    })
  }
  let cancel = () => {}
  const tick = () => {
    cancel = clock.after(TICK_MS, tick)
    if (streams.some((stream) => stream.isPaused())) return
    quietMs += TICK_MS
    totalMs += TICK_MS
    if (quietMs < QUIET_MS && totalMs < LONGEST_MS) return
    act(round++)
    quietMs = 0
    totalMs = 0
  }
  cancel = clock.after(TICK_MS, tick)
  return () => cancel()
}
