import { describe, expect, it } from 'vitest'
import type { Finder, Parsing } from '../config/contract.ts'
import { lineReader } from './line-reader.ts'

const pattern = (source: string, labels: readonly string[] | null = null): Finder => {
  return { kind: 'pattern', source, flags: '', labels }
}
const field = (name: string): Finder => ({ kind: 'fields', fields: { '0': name } })

const LINES: Parsing = {
  source: { kind: 'lines' },
  stepNum: pattern('Iteration:\\s+(\\d[\\d,.]*)'),
  modelSave: pattern('Saving model to: (\\S+)'),
  metrics: {
    loss: pattern('Loss \\(MLM NSP\\): ([\\d.]+) ([\\d.]+)', ['MLM', 'NSP']),
    accuracy: pattern('acc ([^ ]+)'),
  },
}
const JSON_LINES: Parsing = {
  source: { kind: 'jsonl' },
  stepNum: field('step'),
  modelSave: field('saved'),
  metrics: {
    loss: { kind: 'fields', fields: { MLM: 'loss.mlm', NSP: 'loss.nsp' } },
    accuracy: field('train/acc.top1'),
  },
}

describe('lines of text', () => {
  it('give steps with the texts of their metrics', () => {
    expect(lineReader(LINES).read('Iteration: 0006 Loss (MLM NSP): 9.742 0.7180 acc nan')).toEqual({
      kind: 'step',
      step: 6,
      metrics: { loss: { MLM: '9.742', NSP: '0.7180' }, accuracy: { '0': 'nan' } },
    })
  })

  it('leave out a metric that a step did not log', () => {
    expect(lineReader(LINES).read('Iteration: 1 acc 0.5')).toEqual({
      kind: 'step',
      step: 1,
      metrics: { accuracy: { '0': '0.5' } },
    })
  })

  it('are not examined further when they say that a model was saved', () => {
    const line = 'Iteration: 4 Saving model to: ckpts/model_4:5.onnx acc 0.5'
    expect(lineReader(LINES).read(line)).toEqual({ kind: 'save', checkpoint: 'ckpts/model_4:5.onnx' })
  })

  it('with a step that is no whole number are no steps, and that is said once', () => {
    const reader = lineReader(LINES)
    expect([reader.read('Iteration: 1,000 acc 1'), reader.read('Iteration: 1.5')]).toEqual([null, null])
    expect(reader.warnings).toEqual([
      'step_num found "1,000", which is not a whole number; such lines do not count as steps',
      'accuracy was logged only on lines without a step number, which do not count; log both on one line',
    ])
  })

  it('refuse a step beyond exact whole numbers', () => {
    expect(lineReader(LINES).read('Iteration: 99999999999999999999')).toBeNull()
  })

  it('do not complain of a metric that is also logged beside a step', () => {
    const reader = lineReader(LINES)
    reader.read('acc 0.1')
    reader.read('Iteration: 2 acc 0.2')
    expect(reader.warnings).toEqual([])
  })

  it('leave out the label of a group that took no part', () => {
    const reader = lineReader({ ...LINES, metrics: { m: pattern('a=(\\d+)|b=(\\d+)', ['a', 'b']) } })
    expect(reader.read('Iteration: 2 b=7')).toMatchObject({ metrics: { m: { b: '7' } } })
  })
})

describe('JSON lines', () => {
  it('keep numbers as they were logged, through dots and keys that have dots', () => {
    const line = '{"step": 5, "loss": {"mlm": 1.2300000000000000001, "nsp": 1E-05}, "train/acc.top1": NaN}'
    expect(lineReader(JSON_LINES).read(line)).toEqual({
      kind: 'step',
      step: 5,
      metrics: { loss: { MLM: '1.2300000000000000001', NSP: '1E-05' }, accuracy: { '0': 'NaN' } },
    })
  })

  it('read infinities, strings and escapes, and pass over null, lists and objects', () => {
    const line =
      '{"text": "a \\"7\\" 8", "step": "0012", "loss": {"mlm": -Infinity, "nsp": null}, "train/acc.top1": []}'
    expect(lineReader(JSON_LINES).read(line)).toEqual({
      kind: 'step',
      step: 12,
      metrics: { loss: { MLM: '-Infinity' } },
    })
  })

  it.each(['', 'step 5', '{"step": 5', '{"step": 05}', '{"step": 5 6}', '[5]', '{"step": 5.5}', '{"step": .5}'])(
    'pass over %j',
    (line) => {
      expect(lineReader(JSON_LINES).read(line)).toBeNull()
    },
  )

  it('find nothing on the prototype of objects', () => {
    const reader = lineReader({ ...JSON_LINES, metrics: { m: field('constructor.name'), n: field('loss.length') } })
    expect(reader.read('{"step": 1, "loss": "abc"}')).toEqual({ kind: 'step', step: 1, metrics: {} })
  })

  it('take saves from a pattern on plain lines between them', () => {
    const reader = lineReader({ ...JSON_LINES, modelSave: LINES.modelSave })
    expect(reader.read('Saving model to: m.bin')).toEqual({ kind: 'save', checkpoint: 'm.bin' })
  })
})

describe('lines beside a file of metrics', () => {
  const source = { kind: 'csv', path: 'log.csv' } as const

  it('give saves alone', () => {
    const reader = lineReader({ ...LINES, source, stepNum: field('step') })
    const lines = ['Iteration: 3 acc 0.5', 'Saving model to: m.bin']
    expect(lines.map((line) => reader.read(line))).toEqual([null, { kind: 'save', checkpoint: 'm.bin' }])
    expect(reader.warnings).toEqual([])
  })

  it('say after which step a save came where a pattern finds step numbers', () => {
    const reader = lineReader({ ...LINES, source, stepNum: field('step'), lineStepNum: LINES.stepNum })
    expect(reader.read('Iteration: 3')).toBeNull()
    expect(reader.read('Saving model to: m.bin')).toEqual({ kind: 'save', checkpoint: 'm.bin', step: 3 })
  })

  it('give no saves where the file has them', () => {
    const reader = lineReader({ ...LINES, source: { kind: 'jsonl-file', path: 'l' }, modelSave: field('saved') })
    expect(reader.read('Saving model to: m.bin')).toBeNull()
  })
})
