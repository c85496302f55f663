import { Readable } from 'node:stream'
import { FrameReader } from '../../src/runtimes/protocol/frame.ts'
import {
  parseForm,
  parseHello,
  parseOpened,
  parseRan,
  parseWorkerMessage,
} from '../../src/runtimes/protocol/messages.ts'
import { TensorGuard } from '../../src/runtimes/protocol/tensor-guard.ts'
import { eachReply, parseHolder, type Reply } from '../../src/runtimes/ssh/replies.ts'
import { bytesOf, nested } from './bytes.ts'
import type { Row } from './corpus.ts'

function frame(
  header: string | Uint8Array,
  payload = '',
  sizes: { header?: number; payload?: number } = {},
): Uint8Array {
  const [head, body] = [bytesOf(header), bytesOf(payload)]
  const prefix = Buffer.from('ASY1\0\0\0\0\0\0\0\0')
  prefix.writeUInt32LE(sizes.header ?? head.length, 4)
  prefix.writeUInt32LE(sizes.payload ?? body.length, 8)
  return Buffer.concat([prefix, head, body])
}

function frames(bytes: Uint8Array): object {
  const reader = new FrameReader()
  const read = [...reader.push(bytes)]
  return { frames: read.length, unfinished: reader.unfinished() }
}

const message = (more: object) => parseWorkerMessage({ jsonrpc: '2.0', ...more })
const params = { request: 1, name: 'y', dtype: 'float32', shape: [1], offset: 0, last: true }
const tensor = (change: object) => message({ method: 'tensor', params: { ...params, ...change } })
const hello = { protocols: [1], version: '1', accepts: ['onnx'], capabilities: {}, dtypes: ['float32'] }
const opened = { session: 1, inputs: [], outputs: [] }
const ran = { durationMs: 1, values: [], warnings: [] }

function guarded(shape: readonly number[], bytes: number, change: object = {}): unknown {
  const guard = new TensorGuard(2 ** 30)
  return guard.accept({ ...params, shape, ...change }, new Uint8Array(bytes)).offset
}

function replies(text: string | Uint8Array): Promise<object> {
  const taken: Reply[] = []
  return new Promise((resolve, reject) => {
    const stream = Readable.from([Buffer.from(bytesOf(text))])
    eachReply(stream, (reply) => taken.push(reply))
    stream
      .on('error', reject)
      .on('close', () =>
        setImmediate(() => resolve({ replies: taken.length, last: taken.at(-1) ? parseHolder(taken.at(-1)!) : null })),
      )
  })
}

type Short = readonly [name: string, read: () => unknown, says: RegExp | string, exit?: Row['exit']]

const table: readonly Short[] = [
  ['a header of 4 GiB', () => frames(frame('{}', '', { header: 2 ** 32 - 1 })), 'header has 4294967295 bytes'],
  ['a payload of 4 GiB', () => frames(frame('{}', '', { payload: 2 ** 32 - 1 })), 'payload has 4294967295 bytes'],
  ['a header of no bytes', () => frames(frame('')), 'is not JSON'],
  ['a header that nests 1 000 000 deep', () => frames(frame(nested(1_000_000))), /is not JSON|"frames":1/, 'accepted'],
  ['a header that is not UTF-8', () => frames(frame(Uint8Array.of(0x22, 0xff, 0x22))), 'is not JSON'],
  ['another magic', () => frames(bytesOf('ASY2 and more of it')), 'expected a frame'],
  ['an escape for a magic', () => frames(bytesOf('\u001b[2J\u001b]0;x\u0007')), '\\x1b'],
  ['half a frame', () => frames(frame('{"a":1}').subarray(0, 15)), 'after 3 of 7 bytes', 'accepted'],
  [
    '100 000 frames at once',
    () => frames(Buffer.concat(new Array(100_000).fill(frame('{}')))),
    '"frames":100000',
    'accepted',
  ],
  ['a header of 4 MiB', () => frames(frame(`"${'a'.repeat(4 * 2 ** 20 - 2)}"`)), '"frames":1', 'accepted'],
  ['a message of null', () => parseWorkerMessage(null), 'message: found null'],
  ['a message that is a list', () => parseWorkerMessage([]), 'message: found []'],
  ['no version of JSON-RPC', () => parseWorkerMessage({ id: 1, result: {} }), 'without "jsonrpc"'],
  ['neither result nor error', () => message({ id: 1 }), 'neither method, result nor error'],
  ['an id of text', () => message({ id: '1', result: {} }), 'id: found "1"'],
  ['an id of -1', () => message({ id: -1, result: {} }), 'id: found -1'],
  ['an id of 2^60', () => message({ id: 2 ** 60, result: {} }), 'a whole number from 0 up'],
  ['an error of text', () => message({ id: 1, error: 'x' }), 'error: found "x"'],
  ['an error whose message is an object', () => message({ id: 1, error: { message: {} } }), 'error message: found {}'],
  [
    'an error whose arguments are objects',
    () => message({ id: 1, error: { message: 'x', data: { argv: [{}, null] } } }),
    '[object Object]',
    'accepted',
  ],
  [
    'an error whose data is a list',
    () => message({ id: 1, error: { message: 'x', data: [] } }),
    'error data: found []',
  ],
  ['a method of the prototype', () => message({ method: '__proto__' }), '"ignored"', 'accepted'],
  ['a log of numbers', () => message({ method: 'log', params: { text: 7 } }), 'log text: found 7'],
  ['a log without parameters', () => message({ method: 'log' }), 'log text: found nothing'],
  ['parameters that are text', () => message({ method: 'tensor', params: 'x' }), 'params of "tensor"'],
  ['a shape of text', () => tensor({ shape: 'x' }), 'tensor shape: found "x"'],
  ['a shape of -1', () => tensor({ shape: [-1] }), 'dimension in tensor shape: found -1'],
  ['a shape of a fraction', () => tensor({ shape: [0.5] }), 'dimension in tensor shape: found 0.5'],
  ['an offset of -1', () => tensor({ offset: -1 }), 'tensor offset: found -1'],
  ['a last that is text', () => tensor({ last: 'true' }), 'tensor last: found "true"'],
  ['a dtype of every object', () => guarded([1], 4, { dtype: 'constructor' }), 'the unknown dtype "constructor"'],
  ['a tensor of 2^62 elements', () => guarded([2 ** 31, 2 ** 31], 4), 'over the limit'],
  ['a tensor of infinitely many', () => guarded(new Array(100).fill(2 ** 52), 4), 'over the limit'],
  ['more bytes than its shape', () => guarded([1], 8), '8 bytes came'],
  ['fewer bytes than its shape', () => guarded([2], 4), '4 bytes came'],
  ['half an element', () => guarded([1], 2, { last: false }), 'splits a float32'],
  ['a first chunk at byte 8', () => guarded([4], 4, { offset: 8 }), 'expected 0'],
  ['a protocol of the future', () => parseHello({ ...hello, protocols: [9] }), 'speaks protocols [9]'],
  ['protocols of text', () => parseHello({ ...hello, protocols: '1' }), 'hello protocols: found "1"'],
  ['formats of objects', () => parseHello({ ...hello, accepts: [{}, null] }), '"accepts":[]', 'accepted'],
  ['no capabilities', () => parseHello({ ...hello, capabilities: null }), 'capabilities'],
  ['details of numbers', () => parseHello({ ...hello, detail: { a: 7 } }), '"detail":{"a":"7"}', 'accepted'],
  [
    'details of every object',
    () => parseHello({ ...hello, detail: JSON.parse('{"__proto__":"x"}') }),
    '"available":true',
    'accepted',
  ],
  ['a session of text', () => parseOpened({ ...opened, session: 'x' }), 'session: found "x"'],
  ['inputs of null', () => parseOpened({ ...opened, inputs: [null] }), 'input'],
  ['a duration of NaN', () => parseRan({ ...ran, durationMs: Number.NaN }), 'run durationMs'],
  ['a duration below 0', () => parseRan({ ...ran, durationMs: -1 }), 'run durationMs: found -1'],
  ['values of text', () => parseRan({ ...ran, values: ['x'] }), 'found "x"'],
  ['warnings of objects', () => parseRan({ ...ran, warnings: [{}] }), 'warning: found {}'],
  [
    'a sequence of 10^15 tensors',
    () => new TensorGuard(1).finish([{ name: 'y', kind: 'sequence', length: 1e15 }]),
    /never came/,
  ],
  ['a form outside', () => parseForm({ file: '../x' }), 'form file'],
  ['a form of a NUL', () => parseForm({ file: 'a\0b' }), 'form file'],
  ['a board that says nothing of ours', () => replies('motd\n\u001b[2J\nlast login\n'), '"replies":0', 'accepted'],
  ['a board that speaks without end', () => replies('x'.repeat(20_000_000)), '"replies":0', 'accepted'],
  ['a board whose holder is an escape', () => replies('@assay held 1 2 \u001b[2J\n'), '"heldSeconds":2', 'accepted'],
  ['a board whose times are text', () => replies('@assay held x y z\n'), '"who":"z"', 'accepted'],
  [
    'a board that answers a million times',
    () => replies('@assay held 1 2 x\n'.repeat(200_000)),
    '"replies":200000',
    'accepted',
  ],
]

export const rows: readonly Row[] = table.map(([name, read, says, exit = 'refused']) => ({ name, read, exit, says }))
