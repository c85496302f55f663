import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS, type WorkerLaunch } from '../../src/runtimes/contract.ts'
import { WorkerProxy } from '../../src/runtimes/host/proxy.ts'
import { encodeHead, FrameReader } from '../../src/runtimes/protocol/frame.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { floats, saveModel, traceOf } from './capture.ts'
import { identity } from './models.ts'

const SCRIPT = fileURLToPath(new URL('chatty-worker.mjs', import.meta.url))
const launch = (...args: string[]): WorkerLaunch => ({
  argv: [process.execPath, SCRIPT, ...args],
  inherits: [],
  channel: 'fd3',
})
const target = readTarget('command:chatty')

async function runOnce(worker: WorkerProxy) {
  const { session } = await worker.open(await saveModel(identity('float32')), { target })
  const received: number[] = []
  const ran = await worker.run(session, traceOf({ x: floats([2.5]) }), async (chunk) => {
    received.push(...new Float32Array(chunk.bytes.slice().buffer))
  })
  return { ran, received }
}

describe('one of our own Node workers', () => {
  test('may print megabytes on stdout: that is log', async () => {
    const worker = await WorkerProxy.start(launch(), 'chatty', DEFAULT_LIMITS)
    const { ran, received } = await runOnce(worker)
    expect(received).toEqual([2.5])
    expect(ran.values).toHaveLength(1)
    await worker.stop()
    expect(worker.gone).toBe(true)
  })

  test('when it crashes after its outputs, what it printed on stdout is in the error', async () => {
    const worker = await WorkerProxy.start(launch('crash'), 'chatty', DEFAULT_LIMITS)
    await expect(runOnce(worker)).rejects.toMatchObject({
      kind: 'died',
      detail: { signal: 'SIGSEGV', stderr: expect.stringMatching(/ASY1 last words\n$/) },
    })
  })

  test('answers an unknown method with an error, ignores unknown notifications, ends with its input', async () => {
    const child = spawn(process.execPath, [SCRIPT], { stdio: ['pipe', 'ignore', 'ignore', 'pipe'] })
    child.stdin!.write(encodeHead({ jsonrpc: '2.0', method: 'no.such.notification', params: {} }, 0))
    child.stdin!.end(encodeHead({ jsonrpc: '2.0', id: 5, method: 'no.such.method', params: {} }, 0))
    const reader = new FrameReader()
    const headers: unknown[] = []
    for await (const piece of child.stdio[3] as AsyncIterable<Uint8Array>) {
      for (const frame of reader.push(piece)) headers.push(frame.header)
    }
    expect(headers).toEqual([
      { jsonrpc: '2.0', id: 5, error: { code: -32601, message: 'unknown method "no.such.method"' } },
    ])
    expect(child.exitCode ?? (await new Promise((resolve) => child.on('exit', resolve)))).toBe(0)
  })
})
