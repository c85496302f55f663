import { expect, test } from 'vitest'

interface Module {
  readonly imports: readonly string[]
  readonly dynamicImports: readonly string[]
  readonly bytes: number
  readonly isEntry: boolean
  readonly isExternal: boolean
}

type ChunkNames = (graph: ReadonlyMap<string, Module>, nameOf: (id: string) => string) => Map<string, string>

const { chunkNames } = (await import(String(new URL('../../scripts/chunks.mjs', import.meta.url)))) as {
  readonly chunkNames: ChunkNames
}

/** `main: a b, later c` has `main` import a and b, and c when it is needed; sizes in thousands of bytes. */
function chunksOf(text: string, sizes: Readonly<Record<string, number>> = {}): string[] {
  const lines = text.trim().split('\n')
  const modules = lines.map((line): [string, Module] => {
    const [, id = '', now = '', later = ''] = /^\s*(\S+):(?:\s+([^,]*))?(?:, later(.*))?$/.exec(line) ?? []
    const [imports, dynamicImports] = [now, later].map((words) => words.split(' ').filter(Boolean))
    const isExternal = id.startsWith('node:')
    const bytes = (sizes[id] ?? 1) * 1000
    return [id, { imports: imports!, dynamicImports: dynamicImports!, bytes, isEntry: /^main/.test(id), isExternal }]
  })
  const names = chunkNames(new Map(modules), (id) => id)
  const modulesOf = (name: string) => [...names.keys()].filter((id) => names.get(id) === name).sort()
  return [...new Set(names.values())].sort().map((name) => `${name}: ${modulesOf(name).join(' ')}`)
}

test('what only one start needs is left to it', () => {
  const chunks = chunksOf(`
    main: a, later x y
    a:
    x: big-x
    y: big-y
    big-x:
    big-y:`)
  expect(chunks).toEqual(['main: a'])
})

test('what is there before a start is not loaded again, so it stays in one file', () => {
  const graph = `
    main: a b, later x
    a:
    b:
    x: a shared, later y
    y: b shared
    shared:`
  const chunks = chunksOf(graph, { shared: 60 })
  expect(chunks).toEqual(['main: a b', 'x: shared x'])
})

test('small files are put together where that saves more than it costs', () => {
  const graph = `
    main: , later x y z
    x: s t
    y: s t
    z: t
    s:
    t:`
  expect(chunksOf(graph)).toEqual(['main: s t'])
  expect(chunksOf(graph, { s: 45 })).toEqual(['main: t', 's: s'])
})

test('no start reads much in vain, not even a part of Node', () => {
  const graph = (part: string) => `
    main: text, later x y z u v w
    x: text hash
    y: text hash
    z: text hash
    u: text hash
    v: text hash
    w: text hash
    text:
    hash: ${part}
    node:crypto:`
  expect(chunksOf(graph(''))).toEqual(['main: hash text'])
  expect(chunksOf(graph('node:crypto'), { 'node:crypto': 60 })).toEqual(['hash: hash', 'main: text'])
})

/** Modules that import later ones only, each with a size of its own; drawn, and the same every time. */
function drawnGraph(seed: number): Map<string, Module> {
  let state = seed
  const draw = (limit: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const ids = Array.from({ length: 60 }, (_, index) => `${index < 2 ? 'main' : 'm'}${index}`)
  const some = (from: number, count: number) =>
    Array.from({ length: draw(count) }, () => ids[from + 1 + draw(ids.length - from)]).filter((id) => id !== undefined)
  const modules = ids.map((id, index): [string, Module] => {
    const [imports, dynamicImports] = [some(Math.max(index, 1), 4), some(Math.max(index, 1), index < 2 ? 14 : 2)]
    return [id, { imports, dynamicImports, bytes: draw(20_000), isEntry: index < 2, isExternal: false }]
  })
  const graph = new Map(modules)
  const used = new Set(ids.slice(0, 2))
  for (const id of used)
    for (const next of [...graph.get(id)!.imports, ...graph.get(id)!.dynamicImports]) used.add(next)
  return new Map(modules.filter(([id]) => used.has(id)))
}

test('files never import each other in a circle', () => {
  let joined = 0
  for (let seed = 1; seed <= 50; seed++) {
    const graph = drawnGraph(seed)
    const names = chunkNames(graph, (id) => id)
    joined += names.size - new Set(names.values()).size
    const fileOf = (id: string) => names.get(id) ?? `alone ${id}`
    const importsOf = (file: string) =>
      [...graph].filter(([id]) => fileOf(id) === file).flatMap(([, { imports }]) => imports.map(fileOf))
    const visit = (file: string, above: readonly string[]): void => {
      expect(above, `seed ${seed}`).not.toContain(file)
      for (const next of new Set(importsOf(file))) if (next !== file) visit(next, [...above, file])
    }
    for (const file of new Set([...graph.keys()].map(fileOf))) visit(file, [])
  }
  expect(joined).toBeGreaterThan(100)
})
