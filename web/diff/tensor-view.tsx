import { useEffect } from 'preact/hooks'
import type { PairVerdict, ShownPair, ShownTensor } from '../../src/compare/slice/contract.ts'
import { elementCount, formatShape } from '../../src/domain/tensor.ts'
import { cleanProse, cleanText } from '../../src/domain/text.ts'
import { LoneView } from './lone-view.tsx'
import { PairView } from './pair-view.tsx'
import type { ViewState } from './view-state.ts'
import { WorstList } from './worst-list.tsx'

export interface TensorViewProps {
  readonly title: string
  readonly pair: ShownPair
  readonly state: ViewState
  /** Undefined until it is judged. */
  readonly entry: PairVerdict | Error | undefined
  change(state: ViewState): void
  /** Called once there is something to see, so that measuring does not hold it up. */
  ready(): void
}

export function TensorView(props: TensorViewProps) {
  const { title, pair, entry } = props
  return (
    <main>
      <header>
        <p class="title quiet">{cleanText(title)}</p>
        <h1>
          <span class="name">{cleanText(pair.name)}</span> <span class="form">{formOf(pair)}</span>
        </h1>
        <Verdict entry={entry} />
      </header>
      <Content {...props} />
    </main>
  )
}

function Content(props: TensorViewProps) {
  const { reference, target } = props.pair
  const isPair = canBeDrawn(reference, target)
  useEffect(() => {
    if (!isPair) props.ready()
  }, [isPair])
  if (isPair) return <PairView {...props} />
  if (!reference || !target) return <LoneView {...props} />
  if (isString(reference) || isString(target)) return <Strings {...props} />
  if (formatShape(reference.shape) !== formatShape(target.shape)) return <LoneView {...props} />
  return <p class="quiet">there are no elements</p>
}

function canBeDrawn(reference: ShownTensor | null, target: ShownTensor | null): boolean {
  if (!reference || !target || isString(reference) || isString(target)) return false
  return formatShape(reference.shape) === formatShape(target.shape) && elementCount(reference.shape) > 0
}

function Verdict({ entry }: Pick<TensorViewProps, 'entry'>) {
  if (entry === undefined) return <p class="verdict quiet">measuring the whole tensor …</p>
  if (entry instanceof Error) return <p class="verdict problem">{cleanProse(entry.message)}</p>
  const { verdict, reason, rule } = entry.result
  return (
    <p class="verdict" id="verdict">
      <b class={verdict === 'pass' ? 'pass' : 'fail'}>{verdict === 'pass' ? '✓ pass' : `✗ ${verdict}`}</b>
      {reason && <span>{cleanProse(reason)}</span>}
      <span class="quiet">{cleanProse(rule)}</span>
    </p>
  )
}

function formOf({ reference, target }: ShownPair): string {
  const [r, t] = [reference && describe(reference), target && describe(target)]
  if (r === null || t === null || r === t) return r ?? t ?? ''
  return `reference ${r} · target ${t}`
}

function describe({ dtype, shape, isComplex }: ShownTensor): string {
  return isComplex ? `complex, as ${dtype} ${formatShape(shape)}` : `${dtype} ${formatShape(shape)}`
}

function isString({ dtype }: ShownTensor): boolean {
  return dtype === 'string'
}

function Strings({ entry }: TensorViewProps) {
  if (entry === undefined || entry instanceof Error) return null
  return (
    <section class="panel">
      <h2>strings that differ, ten at most</h2>
      <WorstList result={entry.result} shown={[]} show={() => {}} />
    </section>
  )
}
