import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket as Client, WebSocketServer } from 'ws'
import { until } from '../../../../test/support/events.ts'
import { encodeHead, FrameReader } from '../../protocol/frame.ts'
import type { Channel } from '../../worker/channel.ts'
import { openSocketChannel } from './socket-channel.ts'

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
afterAll(() => {
  for (const client of server.clients) client.terminate()
  server.close()
})

/** The channel as a page has it, and the host's end of its socket. */
let socket: Client
let channel: Channel
let host: Client
beforeEach(async () => {
  const accepted = new Promise<Client>((resolve) => server.once('connection', resolve))
  socket = new Client(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await new Promise((resolve) => socket.once('open', resolve))
  // ws has the part of a browser's interface that the channel uses.
  channel = openSocketChannel(socket as WebSocket & Client)
  host = await accepted
})

const frame = (header: unknown, ...payload: number[]) =>
  Buffer.concat([encodeHead(header, payload.length), Uint8Array.from(payload)])

const readAll = async (count: number) => {
  const frames: unknown[] = []
  for (let i = 0; i < count; i++) {
    const read = await channel.read()
    frames.push(read && [read.header, ...read.payload])
  }
  return frames
}

describe('frames over a socket', () => {
  const three = Buffer.concat([frame({ n: 1 }), frame({ n: 2 }, 7, 8), frame({ n: 3 }, 9)])

  test.each([1, 5, 13, 40, three.length])('come in order when messages have %i bytes', async (size) => {
    const reading = readAll(3)
    for (let at = 0; at < three.length; at += size) host.send(three.subarray(at, at + size))
    expect(await reading).toEqual([[{ n: 1 }], [{ n: 2 }, 7, 8], [{ n: 3 }, 9]])
  })

  test('that came before they were asked for wait, also for a host that is gone', async () => {
    host.send(three)
    const closed = new Promise((resolve) => host.once('close', resolve))
    host.close()
    await closed
    expect(await readAll(5)).toEqual([[{ n: 1 }], [{ n: 2 }, 7, 8], [{ n: 3 }, 9], null, null])
  })

  test('put their payload where they are told', async () => {
    const memory = new Uint8Array(4)
    host.send(frame({ at: 1 }, 5, 6))
    const read = await channel.read((header, byteLength) => {
      const { at } = header as { at: number }
      return memory.subarray(at, at + byteLength)
    })
    expect([read?.header, ...memory]).toEqual([{ at: 1 }, 0, 5, 6, 0])
  })

  test('end for a reader that waits when the host goes', async () => {
    const reading = channel.read()
    host.terminate()
    expect(await reading).toBeNull()
  })

  test('are sent one in each message', async () => {
    const messages: Buffer[] = []
    const both = new Promise<void>((resolve) => {
      host.on('message', (data: Buffer) => messages.push(data) === 2 && resolve())
    })
    await channel.write({ n: 1 }, Uint8Array.of(1, 2, 3))
    await channel.write({ n: 2 })
    await both
    const read = messages.map((message) => [...new FrameReader().push(message)])
    expect(read.map((frames) => frames.map(({ header, payload }) => [header, ...payload]))).toEqual([
      [[{ n: 1 }, 1, 2, 3]],
      [[{ n: 2 }]],
    ])
  })

  test('are held back while the host does not read, and all arrive', async () => {
    const [count, size] = [12, 8 * 2 ** 20]
    host.pause()
    let written = 0
    const writing = (async () => {
      for (let i = 0; i < count; i++, written++) await channel.write({ i }, new Uint8Array(size).fill(i))
    })()
    await until(() => socket.bufferedAmount > 16 * 2 ** 20, 'enough waits to be sent')
    expect(written).toBeLessThan(count)
    const lengths: number[] = []
    const all = new Promise<void>((resolve) => {
      host.on('message', (data: Buffer) => lengths.push(data.length) === count && resolve())
    })
    host.resume()
    await Promise.all([writing, all])
    expect(lengths.every((length) => length > size)).toBe(true)
  })
})
