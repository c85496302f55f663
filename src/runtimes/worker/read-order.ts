import { openSyncChannel } from './sync-channel.ts'

/** What the host wants of this worker: its first frame. Anyone on the machine can read a command line, but not this. */
export async function readOrder<Order>(): Promise<Order> {
  const frame = await openSyncChannel(0, 3).read()
  if (frame === null) process.exit(1)
  return frame.header as Order
}
