import { expect, test } from 'vitest'
import type { ChosenDim } from './input-dims.ts'
import { searchSizes, type TriedSizes } from './size-search.ts'

const dim = (name: string, size: number, because = 'test', free = true): ChosenDim => ({ name, size, because, free })
const BATCH = dim('batch', 1, 'by its name, a batch')

/** Sizes that are taken where `refuse` has nothing to say about them. */
async function search(
  open: readonly ChosenDim[],
  refuse: (sizes: Readonly<Record<string, number>>, ranks: TriedSizes['ranks']) => string | null,
  more: { rankless?: readonly string[]; suggested?: readonly number[] } = {},
) {
  const bound = (dims: TriedSizes['dims']) => open.map((one) => ({ ...one, size: dims[one.name] ?? one.size }))
  const sizesOf = (dims: TriedSizes['dims']) => Object.fromEntries(bound(dims).map(({ name, size }) => [name, size]))
  const { found, tried } = await searchSizes({
    first: { open, refusal: refuse(sizesOf({}), {})! },
    rankless: [],
    suggested: [],
    placeOf: (text) => Number(/at node (\d+)/.exec(text)?.[1] ?? -1),
    ask: async ({ dims, ranks }) => ({ open: bound(dims), refusal: refuse(sizesOf(dims), ranks) }),
    ...more,
  })
  return { dims: found && sizesOf(found.dims), ranks: found?.ranks, tries: tried.length }
}

test('what the refusal names is tried first, then what is just above it', async () => {
  const needs = (least: number) => (sizes: Record<string, number>) =>
    sizes.seq! > least ? null : `pad (${least}) exceeds`
  expect(await search([BATCH, dim('seq', 16)], needs(70))).toMatchObject({ dims: { batch: 1, seq: 128 }, tries: 2 })
  expect(
    await search([BATCH, dim('seq', 16)], ({ seq }) => (seq === 400 ? null : 'requested shape:{-1,400}')),
  ).toMatchObject({ dims: { seq: 400 }, tries: 1 })
})

test('without a hint sizes go up by powers of two and to a second of sound, then to what the graph suggests', async () => {
  const takes = (size: number) => (sizes: Record<string, number>) => (sizes.seq === size ? null : 'no')
  for (const size of [32, 512, 16_000])
    expect((await search([dim('seq', 16)], takes(size))).dims).toEqual({ seq: size })
  expect((await search([dim('seq', 16)], takes(441), { suggested: [441] })).dims).toEqual({ seq: 441 })
})

test('a try that gets further is where the next ones start from', async () => {
  const refuse = ({ height, width }: Record<string, number>) => {
    if (height !== 48) return 'at node 3'
    return width === 320 ? null : 'at node 9'
  }
  const found = await search([dim('height', 224), dim('width', 224)], refuse)
  expect(found.dims).toEqual({ height: 48, width: 320 })
})

test('a batch by name stays 1, one by place only does not', async () => {
  const refuse = (sizes: Record<string, number>) => (sizes.n === 64 ? null : 'no')
  expect((await search([dim('n', 1, 'by its name, a batch')], refuse)).dims).toBeNull()
  expect((await search([dim('n', 1, 'the first open axis, assumed to be the batch')], refuse)).dims).toEqual({ n: 64 })
})

test('sizes that were given are left alone', async () => {
  const refuse = ({ seq }: Record<string, number>) => (seq === 64 ? null : 'no')
  expect(await search([dim('seq', 16, 'given', false)], refuse)).toEqual({ dims: null, ranks: undefined, tries: 0 })
})

test('inputs of no declared shape get other axes', async () => {
  const refuse = (_: object, ranks: TriedSizes['ranks']) => (ranks.x === 3 ? null : 'no')
  expect((await search([], refuse, { rankless: ['x'] })).ranks).toEqual({ x: 3 })
})

test('the axes that are refused in other words are those whose sizes are tried', async () => {
  const refuse = ({ x }: Record<string, number>, ranks: TriedSizes['ranks']) => {
    if (ranks.x !== 4) return `needs 4 axes, found ${ranks.x ?? 2}`
    return x === 64 ? null : 'a multiple of 64'
  }
  expect(await search([dim('x', 16)], refuse, { rankless: ['x'] })).toMatchObject({ dims: { x: 64 }, ranks: { x: 4 } })
})

test('what is too large to be tried is passed over', async () => {
  const first = { open: [dim('seq', 16)], refusal: 'no' }
  const ask = async ({ dims }: TriedSizes) => (dims.seq! < 500 ? undefined : { open: first.open, refusal: null })
  const question = { first, rankless: [], suggested: [], placeOf: () => -1, ask }
  expect(await searchSizes(question)).toEqual({
    found: { dims: { seq: 512 }, ranks: {} },
    tried: [{ dims: { seq: 512 }, ranks: {} }],
  })
})

test('a size that only its place calls a batch grows together with the others', async () => {
  const open = [dim('rows', 1, 'the first open axis, assumed to be the batch'), dim('columns', 16)]
  const refuse = ({ rows, columns }: Record<string, number>) => (rows! >= 64 && columns! >= 64 ? null : 'no')
  expect((await search(open, refuse)).dims).toEqual({ rows: 64, columns: 64 })
})

test('the number of tries is bounded', async () => {
  const { dims, tries } = await search([dim('a', 1), dim('b', 2), dim('c', 3)], () => 'no')
  expect([dims, tries]).toEqual([null, 60])
})
