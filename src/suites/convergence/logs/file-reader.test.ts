import { describe, expect, it } from 'vitest'
import { FormatError } from '../../../domain/errors.ts'
import type { Finder, LogSource, Parsing } from '../config/contract.ts'
import { maskedCrc32c } from './crc32c.ts'
import { fileReader } from './file-reader.ts'

const field = (name: string): Finder => ({ kind: 'fields', fields: { '0': name } })
const NONE: Finder = { kind: 'fields', fields: {} }

function parsing(kind: 'csv' | 'jsonl-file' | 'tensorboard', metrics: Record<string, string>): Parsing {
  const source: LogSource = { kind, path: 'x' }
  return {
    source,
    stepNum: kind === 'tensorboard' ? NONE : field('step'),
    modelSave: kind === 'jsonl-file' ? field('saved') : NONE,
    metrics: Object.fromEntries(Object.entries(metrics).map(([name, tag]) => [name, field(tag)])),
  }
}

const step = (number: number, metrics: Record<string, string>) => {
  const logged = Object.entries(metrics).map(([name, text]) => [name, { '0': text }])
  return { kind: 'step', step: number, metrics: Object.fromEntries(logged) }
}

/** All events of a file that comes in pieces of so many bytes. */
function readAll(setting: Parsing, bytes: Uint8Array, pieceBytes = bytes.length) {
  const reader = fileReader(setting)
  const events = []
  for (let at = 0; at < bytes.length; at += pieceBytes) events.push(...reader.feed(bytes.subarray(at, at + pieceBytes)))
  return { events: [...events, ...reader.end()], warnings: reader.warnings }
}

describe('a file of JSON lines', () => {
  const setting = parsing('jsonl-file', { loss: 'loss', eval: 'eval.loss' })
  const text = [
    '{"step": 1, "loss": 0.10}',
    '{"step": 1, "eval": {"loss": 1e-3}}',
    'a line of another kind',
    '{"saved": "m_é.bin"}',
    '{"step": 2, "loss": NaN}',
  ].join('\n')
  const events = [
    step(1, { loss: '0.10', eval: '1e-3' }),
    { kind: 'save', checkpoint: 'm_é.bin' },
    step(2, { loss: 'NaN' }),
  ]

  it.each([1, 7, 1000])('joins the records of a step, in pieces of %i bytes', (pieceBytes) => {
    expect(readAll(setting, Buffer.from(text), pieceBytes)).toEqual({ events, warnings: [] })
  })

  it('leaves out a last record that is torn', () => {
    expect(readAll(setting, Buffer.from(`${text}\n{"step": 3, "loss": 1`)).events).toEqual(events)
  })

  it('leaves out an endless line and says so', () => {
    const long = `${'x'.repeat(2 ** 24 + 1)}`
    const reader = fileReader(setting)
    reader.feed(Buffer.from(long))
    reader.feed(Buffer.from('\n{"step": 3, "loss": 1}\n'))
    expect(reader.end()).toEqual([step(3, { loss: '1' })])
    expect(reader.warnings).toHaveLength(1)
  })
})

describe('a CSV file', () => {
  const setting = parsing('csv', { loss: 'loss', 'a,"b"': 'a,"b"' })

  it.each([1, 5, 1000])('is read by the names of its header, in pieces of %i bytes', (pieceBytes) => {
    const text = '\ufeffepoch,step, loss ,"a,""b"""\r\n0,1,0.50,"7"\r\n0,1,,8\n\n0,0002,"1,5",\n1,3\n'
    expect(readAll(setting, Buffer.from(text), pieceBytes)).toEqual({
      events: [step(1, { loss: '0.50', 'a,"b"': '8' }), step(2, { loss: '1,5' }), step(3, {})],
      warnings: [],
    })
  })

  it('leaves out a last row without its end, whose digits may be missing', () => {
    const { events, warnings } = readAll(parsing('csv', { loss: 'loss' }), Buffer.from('step,loss\n1,2\n2,0.1'))
    expect(events).toEqual([step(1, { loss: '2' })])
    expect(warnings).toEqual(['the last row of the CSV file does not end with a newline and was left out'])
  })

  it('names columns that are not there', () => {
    const { warnings } = readAll(parsing('csv', { loss: 'los', x: 'other' }), Buffer.from('step,loss\n1,2\n'))
    expect(warnings).toEqual([
      'the CSV file has no column "los"; did you mean "loss"?',
      'the CSV file has no column "other"; it has step, loss',
    ])
  })

  it('is refused where a quote never ends', () => {
    const reader = fileReader(setting)
    expect(() => reader.feed(Buffer.from(`step,"${'x\n'.repeat(2 ** 20)}`))).toThrow(FormatError)
  })
})

// Made with torch 2.13.0 and tensorboard 2.21.0:
//   w = SummaryWriter(folder)
//   for s in range(2): w.add_scalar('loss', 0.7 - s / 3, s); w.add_scalar('lr', 1e-5, s)
//   w.add_scalar('lr64', 0.1, 1, new_style=True, double_precision=True); w.close()
const TORCH_EVENTS = Buffer.from(
  'SAAAAAAAAAD+kkidCZPRaBfUvtpBGg1icmFpbi5FdmVudDoyUi4KLHRlbnNvcmJvYXJkLnN1bW1hcnkud3JpdGVyLmV2ZW50X2ZpbGVfd3JpdGVy' +
    'JEuOMBgAAAAAAAAAo39LIgkw12gX1L7aQSoNCgsKBGxvc3MVMzMzPyHNkSgWAAAAAAAAAE9hvigJd9doF9S+2kEqCwoJCgJschWsxSc3hV8Mbho' +
    'AAAAAAAAAEpvYLQml12gX1L7aQRABKg0KCwoEbG9zcxW8u7s+mBZ84xgAAAAAAAAAo39LIgnW12gX1L7aQRABKgsKCQoCbHIVrMUnN597fWswAA' +
    'AAAAAAAJX10F8JPNhoF9S+2kEQASojCiEKBGxyNjRCDAgCMgiamZmZmZm5P0oLCgkKB3NjYWxhcnOILgQa',
  'base64',
)

function framed(data: Uint8Array, sums: { length?: number; data?: number } = {}): Buffer {
  const header = Buffer.alloc(12)
  header.writeBigUInt64LE(BigInt(data.length))
  header.writeUInt32LE((maskedCrc32c(header.subarray(0, 8)) ^ (sums.length ?? 0)) >>> 0, 8)
  const footer = Buffer.alloc(4)
  footer.writeUInt32LE((maskedCrc32c(data) ^ (sums.data ?? 0)) >>> 0)
  return Buffer.concat([header, data, footer])
}

function delimited(number: number, ...parts: Uint8Array[]): Buffer {
  const data = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([number * 8 + 2, data.length]), data])
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}

/** One event with a scalar; a step as the bytes of its varint. */
function event(stepBytes: number[], tag: string, value: Uint8Array): Buffer {
  const summary = delimited(5, delimited(1, delimited(1, Buffer.from(tag)), value))
  return Buffer.concat([Buffer.from([0x10, ...stepBytes]), summary])
}

const simple = (value: number) => Buffer.concat([Buffer.from([0x15]), float32(value)])

describe('an event file of TensorBoard', () => {
  const setting = parsing('tensorboard', { loss: 'loss', lr: 'lr', lr64: 'lr64' })

  it.each([1, 13, 1000])('of torch is read in full precision, in pieces of %i bytes', (pieceBytes) => {
    expect(readAll(setting, TORCH_EVENTS, pieceBytes)).toEqual({
      events: [
        step(0, { loss: '0.699999988079071', lr: '0.000009999999747378752' }),
        step(1, { loss: '0.36666667461395264', lr: '0.000009999999747378752', lr64: '0.1' }),
      ],
      warnings: [],
    })
  })

  it('leaves out a record that is torn, at whatever byte', () => {
    for (let length = 0; length < TORCH_EVENTS.length; length++) {
      const { events } = readAll(setting, TORCH_EVENTS.subarray(0, length))
      for (const found of events) {
        const text = found.kind === 'step' ? found.metrics.loss?.['0'] : undefined
        expect(['0.699999988079071', '0.36666667461395264', undefined]).toContain(text)
      }
    }
  })

  it('is refused where any byte of it is changed', () => {
    for (let at = 0; at < TORCH_EVENTS.length; at++) {
      const bytes = Buffer.from(TORCH_EVENTS)
      bytes[at]! ^= 0x10
      expect(() => readAll(setting, bytes)).toThrow(FormatError)
    }
  })

  it('gives what was logged later for a step again, with all that is known of it', () => {
    const records = [
      event([5], 'loss', simple(1)),
      event([6], 'loss', simple(2)),
      event([5], 'lr', simple(3)),
      event([5], 'loss', simple(Number.NaN)),
    ]
    const bytes = Buffer.concat(records.map((record) => framed(record)))
    expect(readAll(setting, bytes).events).toEqual([
      step(5, { loss: '1' }),
      step(6, { loss: '2' }),
      step(5, { loss: 'NaN', lr: '3' }),
    ])
  })

  it('reads tensors of one float, and passes over those of more', () => {
    const tensor = (floats: Uint8Array, number = 5) => {
      return delimited(8, Buffer.from([0x08, 1]), delimited(number, floats))
    }
    const two = Buffer.concat([float32(1), float32(2)])
    const records = [
      event([1], 'loss', tensor(float32(0.25))),
      event([2], 'loss', tensor(float32(-0), 4)),
      event([3], 'loss', tensor(two)),
    ]
    const { events } = readAll(setting, Buffer.concat(records.map((record) => framed(record))))
    expect(events).toEqual([step(1, { loss: '0.25' }), step(2, { loss: '-0' })])
  })

  it('leaves out steps below 0, and says so', () => {
    const negative = [...Array<number>(9).fill(0xff), 0x01]
    const { events, warnings } = readAll(
      parsing('tensorboard', { loss: 'loss' }),
      framed(event(negative, 'loss', simple(1))),
    )
    expect([events, warnings]).toEqual([[], ['TensorBoard events with a step below 0 were left out']])
  })

  it('takes metrics and labels that are called like parts of every object', () => {
    const { events } = readAll(parsing('tensorboard', { constructor: 'loss' }), framed(event([1], 'loss', simple(1))))
    expect(events).toEqual([step(1, { constructor: '1' })])
    expect(Object.hasOwn(Object, '0')).toBe(false)
  })

  it('names tags that are not there', () => {
    const { warnings } = readAll(parsing('tensorboard', { a: 'losss', b: 'zzzzzz' }), TORCH_EVENTS)
    expect(warnings).toEqual([
      'no TensorBoard event has the tag "losss"; did you mean "loss"?',
      'no TensorBoard event has the tag "zzzzzz"; there are loss, lr, lr64',
    ])
  })

  it.each([
    ['a length that lies', delimited(5, Buffer.from([0x0a, 0x7f, 1]))],
    ['a number without end', Buffer.from([0x10, 0xff])],
    ['a group', Buffer.from([0x2b])],
  ])('with %s inside a record is refused', (_, record) => {
    expect(() => readAll(setting, framed(record))).toThrow(FormatError)
  })

  it('with a record of impossible length is refused at once', () => {
    const header = Buffer.alloc(12, 0xff)
    header.writeUInt32LE(maskedCrc32c(header.subarray(0, 8)), 8)
    expect(() => readAll(setting, header)).toThrow('a record of 18446744073709551615 bytes')
  })
})
