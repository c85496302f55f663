import { Socket } from 'node:net'
import { encodeHead } from '../protocol/frame.ts'

const EMPTY = new Uint8Array(0)

/** File descriptor 3, where a worker of ours answers the host. */
export class HostLink {
  // The end of the host is noticed elsewhere.
  readonly #output = new Socket({ fd: 3, readable: false, writable: true }).on('error', () => {})

  /** Resolves when there is room for more. */
  async send(message: unknown, payload: Uint8Array = EMPTY): Promise<void> {
    this.#output.cork()
    this.#output.write(encodeHead(message, payload.length))
    const hasRoom = this.#output.write(payload)
    this.#output.uncork()
    if (!hasRoom) await new Promise<void>((resolve) => this.#output.once('drain', resolve))
  }

  notify(method: 'notice' | 'progress' | 'end', params: object): Promise<void> {
    return this.send({ jsonrpc: '2.0', method, params })
  }

  answer(id: unknown, result: unknown): Promise<void> {
    return this.send({ jsonrpc: '2.0', id, result })
  }

  refuse(id: unknown, message: string): Promise<void> {
    return this.send({ jsonrpc: '2.0', id, error: { code: -32000, message, data: { stage: 'compile' } } })
  }

  /** Resolves when everything was taken. */
  async flush(): Promise<void> {
    await new Promise<void>((resolve) => this.#output.write(EMPTY, () => resolve()))
  }
}
