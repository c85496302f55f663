import { expect, test } from 'vitest'
import type { LogEvent } from '../../../domain/convergence.ts'
import { EventPacker, unpackEvents } from './packed-events.ts'

const EVENTS: readonly LogEvent[] = [
  { kind: 'step', step: 0, metrics: { loss: { MLM: '1', NSP: '' }, lr: { 0: '1e-3' } } },
  { kind: 'save', checkpoint: 'a b/☃' },
  { kind: 'step', step: 1, metrics: { loss: { MLM: '1', NSP: '2' } } },
  { kind: 'step', step: 2, metrics: { loss: { MLM: '1', NSP: '2' }, lr: { 0: '3' } } },
  { kind: 'step', step: 3, metrics: { loss: { MLM: '1' }, lr: { 0: '3', 1: '4' } } },
  { kind: 'step', step: 4, metrics: {} },
  { kind: 'save', checkpoint: '', step: 4 },
]

function throughPacks(packer: EventPacker, events: readonly LogEvent[]): readonly LogEvent[] {
  for (const event of events) packer.add(event)
  return unpackEvents(structuredClone(packer.take()))
}

test('events come back as they were, whatever their metrics and labels', () => {
  const packer = new EventPacker()
  expect(throughPacks(packer, EVENTS)).toEqual(EVENTS)
  expect(throughPacks(packer, [])).toEqual([])
  for (const event of EVENTS) expect(throughPacks(packer, [event])).toEqual([event])
})

test('values with line ends in them, as JSON may have, stay whole', () => {
  const events: LogEvent[] = [...EVENTS, { kind: 'step', step: 5, metrics: { note: { 0: 'two\nlines', 1: '' } } }]
  expect(throughPacks(new EventPacker(), events)).toEqual(events)
})

test('a step in the shape of another one is not taken for it', () => {
  const packer = new EventPacker()
  const shape = { metrics: ['loss', 'lr'], labels: [['0'], null] as (string[] | null)[] }
  packer.addStep(1, shape, ['a'])
  shape.labels[0] = null
  shape.labels[1] = ['0']
  packer.addStep(2, shape, ['b'])
  expect(unpackEvents(packer.take())).toEqual([
    { kind: 'step', step: 1, metrics: { loss: { 0: 'a' } } },
    { kind: 'step', step: 2, metrics: { lr: { 0: 'b' } } },
  ])
})
