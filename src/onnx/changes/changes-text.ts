import { tableLines } from '../../domain/table.ts'
import type { NodeProto } from '../generated/onnx-ml_pb.ts'
import { changedAttributes, type GraphChanges, type IrFacts, nameOp, type Replacement } from './graph-changes.ts'
import { attributeText, cleanName, inputText } from './listing.ts'

export const CONSTANTS_NOTE = 'Constant nodes are not counted: some forms have constants instead.'

/** What changed between two neighbouring forms, for a person: counts first, then node by node. */
export function changesText(title: string, changes: GraphChanges): string {
  const { before, after, replaced, adjusted, merged, gone, added } = changes
  const parts = [
    [`${title}: ${countText(changes)}`, CONSTANTS_NOTE],
    opTable(before, after),
    section('replaced', [...patternTexts(replaced), ...separated(replaced.map(replacementLine))], replaced.length),
    section(
      'merged with another that did the same',
      merged.map(({ node, into }) => `${label(node)} → ${label(into)}`),
    ),
    section('removed, and nothing computes their values now', gone.map(label)),
    section('new, and nothing computed their values before', added.map(label)),
    section(
      'same op and values, other inputs or attributes',
      adjusted.map((pair) => adjustedLine(pair, changes)),
    ),
  ]
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n')}`
}

/** `221 → 179 nodes` */
function countText({ before, after }: GraphChanges): string {
  const functions = before.functions > 0 ? `, ${before.functions} → ${after.functions} functions` : ''
  return before.nodes === after.nodes
    ? `${after.nodes} nodes as before${functions}`
    : `${before.nodes} → ${after.nodes} nodes${functions}`
}

/** `35× Conv+BatchNormalization → Conv`, the most frequent first. */
export function patternTexts(replaced: readonly Replacement[]): string[] {
  const tally = new Map<string, number>()
  for (const replacement of replaced) {
    const pattern = patternOf(replacement)
    tally.set(pattern, (tally.get(pattern) ?? 0) + 1)
  }
  return [...tally].sort((a, b) => b[1] - a[1]).map(([pattern, count]) => `${count}× ${pattern}`)
}

function patternOf({ from, to, constant }: Replacement): string {
  if (constant !== null) return `${opsText(from, shortOp)} → constant`
  const [old, now] = [from, to].map((nodes) => opsText(nodes, shortOp))
  return old === now ? `${opsText(from, nameOp)} → ${opsText(to, nameOp)}` : `${old} → ${now}`
}

/** Without onnxruntime's own domain. */
function shortOp(node: NodeProto): string {
  return nameOp(node).replace(/^com\.microsoft\./, '')
}

const OPS_SHOWN = 6

/** Equal ops in a row are counted, long rows are cut. */
function opsText(nodes: readonly NodeProto[], textOf: (node: NodeProto) => string): string {
  const runs: { readonly op: string; count: number }[] = []
  for (const op of nodes.map(textOf)) {
    const last = runs.at(-1)
    if (last?.op === op) last.count++
    else runs.push({ op, count: 1 })
  }
  const words = runs
    .slice(0, OPS_SHOWN)
    .map(({ op, count }) => (count > 1 ? `${count} ${cleanName(op)}` : cleanName(op)))
  return [...words, ...(runs.length > OPS_SHOWN ? ['…'] : [])].join('+')
}

function opTable(before: IrFacts, after: IrFacts): string[] {
  const ops = [...new Set([...before.nodesByOp.keys(), ...after.nodesByOp.keys()])].sort()
  const rows = ops.map((op) => {
    const [old, now] = [before, after].map(({ nodesByOp }) => nodesByOp.get(op) ?? 0)
    return [cleanName(op), String(old), String(now), old === now ? '' : '*']
  })
  return tableLines([['op', 'before', 'after', ''], ...rows], { columns: [{}, { align: 'right', width: 6 }], gap: 1 })
}

function section(title: string, lines: readonly string[], count = lines.length): string[] {
  return count === 0 ? [] : [`${title} (${count})`, ...lines.map((line) => `  ${line}`.trimEnd())]
}

const separated = (lines: readonly string[]) => ['', ...lines]

function replacementLine({ from, to, constant }: Replacement): string {
  return `${labels(from)} → ${constant === null ? labels(to) : `constant @${cleanName(constant)}`}`
}

const NODES_SHOWN = 20

function labels(nodes: readonly NodeProto[]): string {
  const rest = nodes.length - NODES_SHOWN
  return [...nodes.slice(0, NODES_SHOWN).map(label), ...(rest > 0 ? [`${rest} more`] : [])].join(' + ')
}

function label(node: NodeProto): string {
  return `${cleanName(nameOp(node))} "${cleanName(node.name || (node.output[0] ?? ''))}"`
}

function adjustedLine({ before, after }: GraphChanges['adjusted'][number], changes: GraphChanges): string {
  const inputs = [
    before.input.map((name) => inputText(name, changes.before.constants)),
    after.input.map((name) => inputText(name, changes.after.constants)),
  ] as const
  const moved = inputs[0].join() === inputs[1].join() ? [] : [`(${inputs[0].join(', ')}) → (${inputs[1].join(', ')})`]
  const settings = changedAttributes(before, after).map((name) => attributeChange(name, before, after))
  return `${label(before)}: ${[...moved, ...settings].join(', ')}`
}

function attributeChange(name: string, before: NodeProto, after: NodeProto): string {
  const [old, now] = [before, after].map((node) => {
    const found = node.attribute.find((attribute) => attribute.name === name)
    return found ? attributeText(found) : 'none'
  })
  return `${cleanName(name)} ${old} → ${now}`
}
