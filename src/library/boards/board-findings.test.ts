import { describe, expect, test } from 'vitest'
import { cleanFinding, freeFinding, listFinding } from './board-findings.ts'

const BOARD = 'root@board'
const MIB = 2 ** 20
const holder = { who: 'anna@laptop', heldSeconds: 125, silentSeconds: 3, isOver: false }
const report = {
  facts: 'npu1 · Linux 6.1',
  holder: null,
  leftovers: [],
  kept: { folder: '/root/.assay', files: 2, byteLength: 3 * MIB },
  freeBytes: 10 * MIB,
}
const of = <Outcome>(outcome: Outcome) => ({ board: BOARD, targets: [], outcome, reason: null })

describe('a board in a list', () => {
  test('that is free is good, by the names that the configuration has for it', () => {
    expect(listFinding({ ...of(report), targets: ['npu', 'other'] })).toEqual({
      name: 'npu, other = root@board',
      health: 'good',
      text: 'free · npu1 · Linux 6.1 · 2 files kept (3.0 MiB) in /root/.assay, 10.0 MiB free there',
    })
  })

  test('that was never used says so', () => {
    const fresh = { ...report, kept: { folder: '', files: 0, byteLength: 0 }, freeBytes: null }
    expect(listFinding(of(fresh)).text).toBe('free · npu1 · Linux 6.1 · never used by Assay')
  })

  test('that somebody has is noted with who that is', () => {
    const { health, text } = listFinding(of({ ...report, holder }))
    expect([health, text.split(' · ')[0]]).toEqual([
      'note',
      expect.stringMatching(/^held by anna@laptop for .*, last sign of life 3 s ago$/),
    ])
  })

  test.each([
    ['whose time is over', { holder: { ...holder, isOver: true } }, ': its time is over'],
    ['with leftovers', { leftovers: [{ name: 'a', byteLength: MIB }] }, '1 leftover folder (1.0 MiB)'],
  ])('%s is worth a look, with what to do', (_what, more, words) => {
    expect(listFinding(of({ ...report, ...more }))).toMatchObject({
      health: 'look',
      text: expect.stringContaining(words),
      remedy: 'assay boards free root@board',
    })
  })

  test('that cannot be reached is broken with the reason', () => {
    const lost = { board: BOARD, targets: [], outcome: null, reason: 'no route to host' }
    for (const finding of [listFinding(lost), freeFinding(lost), cleanFinding(lost)])
      expect(finding).toEqual({ name: BOARD, health: 'broken', text: 'no route to host' })
  })
})

describe('a board that', () => {
  test('was freed says from whom, and what was removed', () => {
    expect(freeFinding(of({ holder: null, isRefused: false, removedFolders: 0 })).text).toBe('was free')
    const freed = freeFinding(of({ holder, isRefused: false, removedFolders: 2 }))
    expect(freed.text).toMatch(/^is free; it was held by anna@laptop .*; 2 leftover folders removed$/)
  })

  test('is in use is left alone, with what one may do', () => {
    expect(freeFinding(of({ holder, isRefused: true, removedFolders: 0 }))).toMatchObject({
      health: 'broken',
      text: expect.stringMatching(/^left alone: it is held by anna@laptop/),
      remedy: 'assay boards free root@board --force, if nobody needs it any more',
    })
    expect(cleanFinding(of({ holder, isRefused: true, removedBytes: 0 })).remedy).toBe('try again when it is free')
  })

  test('was cleaned says how much that was', () => {
    expect(cleanFinding(of({ holder: null, isRefused: false, removedBytes: 3 * MIB })).text).toBe('3.0 MiB removed')
  })
})
