/// <reference lib="dom" />
import { encodeHead, type Frame, FrameReader } from '../../protocol/frame.ts'
import type { Channel } from '../../worker/channel.ts'

/** More than this is not given to the socket at once. */
const BUFFERED_BYTES = 16 * 2 ** 20
const POLL_MS = 2
const EMPTY = new Uint8Array(0)

/** Frames over a WebSocket; each message we send is one whole frame. */
export function openSocketChannel(socket: WebSocket): Channel {
  const frames = new FrameQueue()
  const reader = new FrameReader()
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
    for (const frame of reader.push(new Uint8Array(data))) frames.push(frame)
  })
  socket.addEventListener('close', () => frames.end())
  return {
    async read(place) {
      const frame = await frames.next()
      if (!frame || !place) return frame
      const payload = place(frame.header, frame.payload.length)
      payload.set(frame.payload)
      return { header: frame.header, payload }
    },
    async write(header, payload = EMPTY) {
      while (socket.bufferedAmount > BUFFERED_BYTES) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      socket.send(join(encodeHead(header, payload.length), payload))
    },
  }
}

function join(head: Uint8Array, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(head.length + payload.length)
  frame.set(head)
  frame.set(payload, head.length)
  return frame
}

/** Frames that came and wait to be read, or a reader that waits for the next one. */
class FrameQueue {
  readonly #frames: Frame[] = []
  #waiting: ((frame: Frame | null) => void) | null = null
  #isOver = false

  push(frame: Frame): void {
    if (!this.#waiting) this.#frames.push(frame)
    else this.#serve(frame)
  }

  end(): void {
    this.#isOver = true
    if (this.#waiting) this.#serve(null)
  }

  async next(): Promise<Frame | null> {
    const frame = this.#frames.shift()
    if (frame || this.#isOver) return frame ?? null
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  #serve(frame: Frame | null): void {
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.(frame)
  }
}
