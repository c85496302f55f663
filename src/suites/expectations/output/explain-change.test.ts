import { describe, expect, test } from 'vitest'
import type { DType } from '../../../domain/dtype.ts'
import { randomStream } from '../../../models/random.ts'
import { encodeNumbers } from '../../../tensors/encode.ts'
import { memorySource } from '../../../tensors/memory-source.ts'
import { compareOutput, compareSignatures } from './compare-output.ts'
import { explainChange } from './explain-change.ts'
import { measureOutput } from './measure-output.ts'
import { makeSignature } from './signature.ts'

const LIMITS = { rtol: 1e-3, rel_l2: 1e-4 }
const [ROWS, WIDTH] = [16, 40]
type Given = readonly (readonly number[])[]

function drawn(name: string): number[] {
  const random = randomStream(7, name)
  return Array.from({ length: ROWS * WIDTH }, () => random.normal())
}

const OUTPUT = drawn('output')

async function measured(outputs: Given, dtype: DType = 'float32') {
  const all = []
  for (const [i, values] of outputs.entries()) {
    const tensor = { dtype, shape: [1, ROWS, WIDTH], bytes: encodeNumbers(dtype, values) }
    all.push(await measureOutput(memorySource(`o${i}`, tensor, 1000)))
  }
  return { figures: all.map(({ figures }) => figures), signature: makeSignature(all, all.length > 1) }
}

/** null: nothing is over its limit. */
async function explained(before: Given, now: Given, dtype?: DType): Promise<string | null> {
  const [old, fresh] = [await measured(before, dtype), await measured(now, dtype)]
  const changes = old.figures.map((figures, i) => compareOutput(figures, fresh.figures[i]!, LIMITS))
  const signature = compareSignatures(old.signature, fresh.signature, old.figures, LIMITS)
  const isOver = changes.some((change) => change.isOver) || (signature?.positions.length ?? 0) > 0
  return isOver ? explainChange(changes, signature, { gone: [], fresh: [] }, LIMITS) : null
}

const place = (row: number, column: number) => row * WIDTH + column
const edited = (edit: (values: number[]) => void) => {
  const values = [...OUTPUT]
  edit(values)
  return values
}

describe('what changed', () => {
  test('is nothing if roundings move every value a little', async () => {
    const random = randomStream(1, 'noise')
    const noisy = OUTPUT.map((value) => value + 3e-5 * random.normal())
    expect(await explained([OUTPUT], [noisy])).toBeNull()
  })

  test('is that columns were permuted, which the signature does not see', async () => {
    const turned = OUTPUT.map((_, i) => OUTPUT[place(Math.floor(i / WIDTH), (i + 1) % WIDTH)]!)
    expect(await explained([OUTPUT], [turned])).toBe(
      'o0: projections differ, the signature does not: values were permuted; the top-1 id changed at 16 of 16 positions',
    )
  })

  test('is seen where only two small values were exchanged', async () => {
    const [a, b] = [place(3, 5), place(9, 8)]
    const exchanged = edited((values) => {
      ;[values[a], values[b]] = [values[b]!, values[a]!]
    })
    expect(Math.abs(OUTPUT[a]! - OUTPUT[b]!)).toBeGreaterThan(0.01)
    expect(await explained([OUTPUT], [exchanged])).toMatch(
      /^o0: projections differ, the signature does not: values were/,
    )
  })

  test('is that all values changed sign, or were scaled', async () => {
    expect(await explained([OUTPUT], [OUTPUT.map((value) => -value)])).toMatch(
      /^o0: all values changed sign; the top-1 id changed at \d+ of 16 positions$/,
    )
    expect(await explained([OUTPUT], [OUTPUT.map((value) => 1.5 * value)])).toBe(
      'o0: all values are 1.5 times what they were',
    )
  })

  test('is that one column changed sign', async () => {
    const turned = OUTPUT.map((value, i) => (i % WIDTH === 11 ? -value : value))
    expect(await explained([OUTPUT], [turned])).toMatch(/changed sign|the signature differs at position/)
  })

  test('is that all values were moved by one number', async () => {
    expect(await explained([OUTPUT], [OUTPUT.map((value) => value + 0.5)])).toBe('o0: all values are larger by 0.5')
    expect(await explained([OUTPUT], [OUTPUT.map((value) => value - 0.5)])).toBe('o0: all values are smaller by 0.5')
  })

  test('is that positions come later', async () => {
    const later = [...OUTPUT.slice(-WIDTH), ...OUTPUT.slice(0, -WIDTH)]
    expect(await explained([OUTPUT], [later])).toMatch(/^o0: its positions come 1 later; the top-1 id changed at/)
    expect(await explained([later], [OUTPUT])).toMatch(/^o0: its positions come 1 earlier/)
  })

  test('is that the largest value of one position fell', async () => {
    const row = OUTPUT.slice(place(5, 0), place(6, 0))
    const top = place(5, row.indexOf(Math.max(...row)))
    const fallen = edited((values) => {
      values[top] = 0
    })
    expect(await explained([OUTPUT], [fallen])).toMatch(
      /^o0: the signature differs at position 5: [\d.]+, was [\d.]+; the top-1 id changed at 1 of 16 positions$/,
    )
  })

  test('is that two outputs are swapped', async () => {
    const other = drawn('other')
    expect(await explained([OUTPUT, other], [other, OUTPUT])).toBe('outputs 0 and 1 are swapped (o0 and o1)')
  })

  test('is where values are not finite any more, but not where they never were', async () => {
    const broken = edited((values) => {
      values[3] = Number.NaN
    })
    expect(await explained([OUTPUT], [broken])).toBe('o0: 1 of its values are NaN, 0 were')
    expect(await explained([broken], [broken])).toBeNull()
    const none = OUTPUT.map(() => Number.NaN)
    expect(await explained([none], [none])).toBeNull()
  })

  test('is any change of whole numbers', async () => {
    const whole = OUTPUT.map((value) => Math.round(100 * value))
    const off = whole.map((value, i) => (i === 77 ? value + 1 : value))
    expect(await explained([whole], [whole], 'int32')).toBeNull()
    expect(await explained([whole], [off], 'int32')).toMatch(/^o0: /)
  })
})

test('an output of another shape or type is told as such', async () => {
  const [{ figures }, half] = [await measured([OUTPUT]), await measured([OUTPUT], 'float16')]
  expect(compareOutput(figures[0]!, half.figures[0]!, LIMITS).problem).toBe('its element type is float16, was float32')
  const longer = { ...figures[0]!, shape: [1, 2 * ROWS, WIDTH] }
  expect(compareOutput(figures[0]!, longer, LIMITS).problem).toBe('its shape is (1, 32, 40), was (1, 16, 40)')
})

test('outputs that only one side has are named', () => {
  expect(explainChange([], null, { gone: ['a', 'b'], fresh: ['c'] }, LIMITS)).toBe(
    'output a, b is gone, output c is new',
  )
})
