import { expect, test } from 'vitest'
import { caseNotesLines } from './case-notes-lines.ts'
import { createStyle } from './style.ts'

const style = createStyle({ write: () => true, isTTY: true, columns: 60 }, { env: {} })
const IR = { title: 'the forms of three', index: 'ir/index.txt', problems: [] }
const quiet = { lines: ['1 node, the same in every form'], isNotable: false }

test('cases in which something changed are shown, wrapped; the others are counted', () => {
  const changed = {
    id: 'm/full_model@ort:cpu',
    lines: ['221 → 179 nodes at basic (35× Conv+BatchNormalization → Conv, …)', 'all failed'],
    isNotable: true,
  }
  const cases = [{ id: 'a', ...quiet }, changed, { id: 'b', ...quiet }]
  const lines = caseNotesLines({ ...IR, cases, notices: ['w gives none'] }, style)
  expect(lines).toMatchInlineSnapshot(`
    [
      "",
      "the forms of three",
      "  m/full_model@ort:cpu",
      "    221 → 179 nodes at basic (35× Conv+BatchNormalization →",
      "    Conv, …)",
      "    all failed",
      "… and 2 more in which nothing changed, see ir/index.txt",
      "w gives none",
    ]
  `)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(60)
})

test('where nothing changed, the first case stands for all', () => {
  const cases = ['a', 'b', 'c'].map((id) => ({ id, ...quiet }))
  expect(caseNotesLines({ ...IR, cases, notices: [] }, style).slice(2)).toEqual([
    '  a',
    '    1 node, the same in every form',
    '… and 2 more in which nothing changed, see ir/index.txt',
  ])
})

test('of very many cases not all are shown, and names are inert', () => {
  const cases = Array.from({ length: 30 }, (_, i) => ({ id: `\u001b[2J${i}`, lines: ['x\ny'], isNotable: true }))
  const lines = caseNotesLines({ ...IR, cases, notices: [] }, style)
  expect(lines.at(-1)).toBe('… and 10 more, see ir/index.txt')
  expect(lines.join('')).not.toContain('\u001b')
})
