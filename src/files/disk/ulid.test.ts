import { describe, expect, test } from 'vitest'
import { isUlid, laterMs, ulid, ulidTimeMs } from './ulid.ts'

describe('ulids', () => {
  test('hold their time and have the standard form', () => {
    const now = Date.now() + 60_000
    const id = ulid(now)
    expect(id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
    expect(ulidTimeMs(id)).toBe(now)
  })

  test('grow strictly, also within a millisecond and when the clock goes back', () => {
    const now = Date.now() + 120_000
    const ids = [...Array.from({ length: 2000 }, () => ulid(now)), ulid(now - 5000)]
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('a moment is later than the one before, and not before any of them', () => {
    const now = Date.now() + 180_000
    const id = ulid(now)
    const moments = [laterMs(), laterMs(), laterMs()]
    expect(moments[0]).toBeGreaterThanOrEqual(ulidTimeMs(id)!)
    expect(moments).toEqual([...new Set(moments)].sort())
  })

  test('other names are not taken for one', () => {
    for (const text of ['', 'artifacts', '01ARZ3NDEKTSV4RRFFQ69G5FAU', '8'.repeat(26), '.new-1']) {
      expect([text, isUlid(text)]).toEqual([text, false])
      expect(ulidTimeMs(text)).toBeNull()
    }
  })
})
