// Which modules of a bundle share a file.
//
// A start is an entry, or a module that is imported when it is needed. Modules that the same starts need share a file, so
// that nothing is loaded in vain. That alone gives over a hundred small files, and opening one costs as much as reading some
// thousand bytes more: files are put together as long as that saves more than it costs.

/** To find, open and link a file takes 0.5 ms, to read and compile its source 50 ns a byte (Node 20). */
const FILE_BYTES = 10_000

/** No start may read more than this in vain: files are shared for the sake of all, and `--help` must not pay for it. */
const VAIN_BYTES = 50_000

/**
 * The name of the file for each module; a module without one is left to the bundler, which keeps it with its only start.
 * The graph: a Map of id to { imports, dynamicImports, bytes, isEntry, isExternal }.
 */
export function chunkNames(graph, nameOf) {
  const names = new Map()
  const files = filesOf(graph, neededBy(graph))
  for (const file of putTogether(files, costsIn(graph, files)).filter(({ isExternal }) => !isExternal)) {
    const name = nameOf(topOf(graph, file))
    for (const id of file.modules) if (!graph.get(id).isEntry) names.set(id, name)
  }
  return names
}

/** What is in memory once a start has been loaded: its own imports, and what all that can ask for it had loaded before. */
function neededBy(graph) {
  const ids = [...graph.keys()].sort()
  const entries = ids.filter((id) => graph.get(id).isEntry)
  const later = [...new Set(ids.flatMap((id) => graph.get(id).dynamicImports))].filter((id) => !entries.includes(id))
  const own = new Map([...entries, ...later].map((start) => [start, reachedFrom(graph, start)]))
  const needs = new Map([...own].map(([start, modules]) => [start, entries.includes(start) ? modules : new Set(ids)]))
  const narrow = (start) => {
    const askers = [...own].filter(([, modules]) => [...modules].some((id) => asksFor(graph, id, start)))
    const [first, ...others] = askers.map(([asker]) => needs.get(asker))
    const before = [...first].filter((id) => others.every((modules) => modules.has(id)))
    const size = needs.get(start).size
    needs.set(start, new Set([...before, ...own.get(start)]))
    return needs.get(start).size < size
  }
  while (later.filter(narrow).length > 0);
  return needs
}

const asksFor = (graph, id, start) => graph.get(id).dynamicImports.includes(start)

function reachedFrom(graph, start) {
  const reached = new Set([start])
  for (const id of reached) for (const imported of graph.get(id).imports) reached.add(imported)
  return reached
}

/** Files that are shared by several starts; an import never leads to a file with fewer of them, so there are no cycles. */
function filesOf(graph, needs) {
  const files = new Map()
  for (const id of [...graph.keys()].sort()) {
    const starts = new Set([...needs.keys()].filter((start) => needs.get(start).has(id)))
    if (starts.size < 2) continue
    const { bytes, isExternal } = graph.get(id)
    const key = isExternal ? id : [...starts].join('\n')
    if (!files.has(key)) files.set(key, { starts, modules: [], bytes: 0, isExternal })
    files.get(key).modules.push(id)
    files.get(key).bytes += bytes
  }
  return [...files.values()]
}

function putTogether(files, costOf, refused = new Map()) {
  const fewer = oneFewer(files, costOf, refused)
  return fewer ? putTogether(fewer, costOf, refused) : files
}

/** With the pair together that saves most; null where none saves anything. */
function oneFewer(files, costOf, refused) {
  const cost = costOf(files)
  for (const [a, b] of promising(files).filter(([first, second]) => !refused.get(first)?.has(second))) {
    const fewer = [...files.filter((file) => file !== a && file !== b), union(a, b)]
    if (costOf(fewer) < cost) return fewer
    refused.set(a, (refused.get(a) ?? new Set()).add(b))
  }
  return null
}

/** Pairs that save something if what they import is left out of account, those that save most first. */
function promising(files) {
  const ours = files.filter(({ isExternal }) => !isExternal)
  const pairs = ours.flatMap((a, index) => ours.slice(index + 1).map((b) => [a, b, saving(a, b)]))
  return pairs.filter(([, , saved]) => saved > 0).sort((x, y) => y[2] - x[2])
}

function saving(a, b) {
  const both = [...a.starts].filter((start) => b.starts.has(start)).length
  return both * FILE_BYTES - (a.starts.size - both) * b.bytes - (b.starts.size - both) * a.bytes
}

function union(a, b) {
  return {
    starts: new Set([...a.starts, ...b.starts]),
    modules: [...a.modules, ...b.modules],
    bytes: a.bytes + b.bytes,
  }
}

/**
 * How much all starts together read. It is infinite where files import each other in a circle, for then some would run too
 * early, and where a start reads too much that it does not need; at first, none does.
 */
function costsIn(graph, atFirst) {
  const needed = bytesRead(readersOf(graph, atFirst))
  return (files) => {
    const readers = readersOf(graph, files)
    if (readers === null) return Number.POSITIVE_INFINITY
    const isVain = ([start, bytes]) => bytes - needed.get(start) > VAIN_BYTES
    if ([...bytesRead(readers)].some(isVain)) return Number.POSITIVE_INFINITY
    return [...readers].reduce((sum, [file, starts]) => sum + starts.size * (FILE_BYTES + file.bytes), 0)
  }
}

function bytesRead(readers) {
  const bytes = new Map()
  for (const [file, starts] of readers) {
    for (const start of starts) bytes.set(start, (bytes.get(start) ?? 0) + file.bytes)
  }
  return bytes
}

/** Which starts read a file: those that need it, and those that read one which imports it; null: there is a circle. */
function readersOf(graph, files) {
  const order = inOrder(importsBetween(graph, files))
  const readers = new Map(files.map((file) => [file, new Set(file.starts)]))
  for (const [file, imported] of order ?? []) {
    for (const other of imported) for (const start of readers.get(file)) readers.get(other).add(start)
  }
  return order && readers
}

function importsBetween(graph, files) {
  const fileOf = new Map(files.flatMap((file) => file.modules.map((id) => [id, file])))
  const importsOf = (file) =>
    new Set(file.modules.flatMap((id) => graph.get(id).imports.map((each) => fileOf.get(each))))
  return new Map(files.map((file) => [file, [...importsOf(file)].filter((other) => other && other !== file)]))
}

/** Importers before what they import; null where that cannot be. */
function inOrder(imports) {
  const [order, state] = [[], new Map()]
  const visit = (file) => {
    if (state.has(file)) return state.get(file) === 'done'
    state.set(file, 'begun')
    if (!imports.get(file).every(visit)) return false
    state.set(file, 'done')
    order.push([file, imports.get(file)])
    return true
  }
  return [...imports.keys()].every(visit) ? order.reverse() : null
}

/** The module that most of the others are there for. */
function topOf(graph, { modules }) {
  const inside = new Set(modules)
  const weight = (id) => [...reachedFrom(graph, id)].filter((reached) => inside.has(reached)).length
  const weights = new Map(modules.map((id) => [id, weight(id)]))
  return modules.toSorted((a, b) => weights.get(b) - weights.get(a) || (a < b ? -1 : 1))[0]
}
