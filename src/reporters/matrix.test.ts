import { describe, expect, test } from 'vitest'
import { displayWidth } from '../domain/text.ts'
import { matrixLines } from './matrix.ts'
import { createStyle } from './style.ts'
import { KeptStream, sampleResult } from './testing/sample-run.ts'

const styleOf = (columns: number) => createStyle(new KeptStream(columns, true), { env: {}, color: false })

const results = [
  sampleResult({ target: 'a' }),
  sampleResult({ target: 'b' }),
  sampleResult({ target: 'b', scope: 'layer_1', verdict: 'fail' }),
  sampleResult({ target: 'b', scope: 'layer_2', verdict: 'fail' }),
  sampleResult({ target: 'b', scope: 'layer_3', verdict: 'inconclusive' }),
  sampleResult({ model: 'ppocr/det', target: 'a', verdict: 'skip' }),
]

describe('model × target', () => {
  test('a cell is the worst verdict with how many cases have it, and blank is not judged', () => {
    expect(matrixLines(results, styleOf(80), false).join('\n')).toMatchInlineSnapshot(`
      "model       a  b
      silero_vad  ✓  ✗2
      ppocr/det   ○  -
      ✓ pass  ✗ fail  ? inconclusive  ○ skip"
    `)
  })

  test('one target needs no matrix', () => {
    expect(matrixLines(results.slice(0, 1), styleOf(80), false)).toEqual([])
  })

  test('many long target names become numbers with a legend, and parts where even those are too many', () => {
    const targets = Array.from({ length: 12 }, (_, i) => `ort@1.${i}.0:cpu,optimization=disabled,threads=2`)
    const many = targets.map((target) => sampleResult({ target }))
    const lines = matrixLines(many, styleOf(40), false)
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "[1] ort@1.0.0:cpu,opt…sabled,threads=2
      [2] ort@1.1.0:cpu,opt…sabled,threads=2
      [3] ort@1.2.0:cpu,opt…sabled,threads=2
      [4] ort@1.3.0:cpu,opt…sabled,threads=2
      [5] ort@1.4.0:cpu,opt…sabled,threads=2
      [6] ort@1.5.0:cpu,opt…sabled,threads=2
      [7] ort@1.6.0:cpu,opt…sabled,threads=2
      [8] ort@1.7.0:cpu,opt…sabled,threads=2
      [9] ort@1.8.0:cpu,opt…sabled,threads=2
      [10] ort@1.9.0:cpu,opt…sabled,threads=2
      [11] ort@1.10.0:cpu,op…sabled,threads=2
      [12] ort@1.11.0:cpu,op…sabled,threads=2
      model       [1]  [2]  [3]  [4]  [5]  [6]
      silero_vad  ✓    ✓    ✓    ✓    ✓    ✓
      model       [7]  [8]  [9]  [10]  [11]
      silero_vad  ✓    ✓    ✓    ✓     ✓
      model       [12]
      silero_vad  ✓
      ✓ pass"
    `)
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(40)
  })

  test('among many models those that pass everywhere give way', () => {
    const many = Array.from({ length: 60 }, (_, i) => [
      sampleResult({ model: `m${i}`, target: 'a' }),
      sampleResult({ model: `m${i}`, target: 'b', verdict: i === 50 ? 'error' : 'pass' }),
    ]).flat()
    expect(matrixLines(many, styleOf(80), false).slice(1, 3)).toEqual([
      'm50    ✓  !',
      '… 59 more models (-v shows them)',
    ])
    expect(matrixLines(many, styleOf(80), true)).toHaveLength(1 + 60 + 1)
  })
})
