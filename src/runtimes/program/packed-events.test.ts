import { expect, test } from 'vitest'
import type { LogEvent } from '../../domain/convergence.ts'
import { packEvents, unpackEvents } from './packed-events.ts'

const EVENTS: readonly LogEvent[] = [
  { kind: 'step', step: 0, metrics: { loss: { MLM: '1', NSP: '' }, lr: { 0: '1e-3' } } },
  { kind: 'save', checkpoint: 'a b/☃' },
  { kind: 'step', step: 1, metrics: { loss: { MLM: '1', NSP: '2' } } },
  { kind: 'step', step: 2, metrics: { loss: { MLM: '1', NSP: '2' }, lr: { 0: '3' } } },
  { kind: 'step', step: 3, metrics: { loss: { MLM: '1' }, lr: { 0: '3', 1: '4' } } },
  { kind: 'step', step: 4, metrics: {} },
  { kind: 'save', checkpoint: '', step: 4 },
]

test('events come back as they were, whatever their metrics and labels', () => {
  const packed = packEvents(EVENTS)
  expect(packed.kind).toBe('packed')
  expect(unpackEvents(structuredClone(packed))).toEqual(EVENTS)
  expect(unpackEvents(packEvents([]))).toEqual([])
  expect(unpackEvents(packEvents([EVENTS[1]!]))).toEqual([EVENTS[1]])
})

test('values with line ends in them, as JSON may have, stay whole', () => {
  const events: LogEvent[] = [...EVENTS, { kind: 'step', step: 5, metrics: { note: { 0: 'two\nlines' } } }]
  expect(unpackEvents(structuredClone(packEvents(events)))).toEqual(events)
})
