import { useEffect, useState } from 'preact/hooks'
import type { ShownPairs } from '../../src/compare/slice/contract.ts'
import { cleanText } from '../../src/domain/text.ts'
import { fetchPairs } from './api.ts'
import { TensorList } from './tensor-list.tsx'
import { TensorView } from './tensor-view.tsx'
import { useVerdicts } from './use-diff.ts'
import { useKeys } from './use-keys.ts'
import { defaultState, formatHash, parseHash, shownTensor, type ViewState } from './view-state.ts'

export function App() {
  const [shown, setShown] = useState<ShownPairs | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    fetchPairs().then(setShown, (error: Error) => setProblem(error.message))
  }, [])
  if (problem !== null) return <p class="problem alone">{problem}</p>
  if (shown === null) return null
  if (shown.pairs.length === 0) return <p class="problem alone">there are no tensors to show</p>
  return <Diff shown={shown} />
}

function Diff({ shown: { title, pairs } }: { readonly shown: ShownPairs }) {
  const [state, setState] = useHashState(pairs)
  const [isReady, setReady] = useState(false)
  const verdicts = useVerdicts(pairs.length, state.pair, state.tolerance, isReady)
  const pair = pairs[state.pair]!
  const show = (next: number) => setState(defaultState(next, shownTensor(pairs[next]!), state.tolerance))
  useEffect(() => {
    document.title = `${cleanText(pair.name, 60)} – ${cleanText(title, 60)} – assay diff`
  }, [pair, title])
  useKeys({ '/': () => document.getElementById('filter')?.focus() })
  return (
    <div class={pairs.length > 1 ? 'page listed' : 'page'}>
      {pairs.length > 1 && <TensorList pairs={pairs} verdicts={verdicts} shown={state.pair} show={show} />}
      <TensorView
        key={state.pair}
        title={title}
        pair={pair}
        state={state}
        entry={verdicts.get(state.pair)}
        change={setState}
        ready={() => setReady(true)}
      />
    </div>
  )
}

/** The view and the address are the same thing. */
function useHashState(pairs: ShownPairs['pairs']): [ViewState, (state: ViewState) => void] {
  const [state, setState] = useState(() => parseHash(location.hash, pairs))
  useEffect(() => {
    const follow = () => setState(parseHash(location.hash, pairs))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [pairs])
  useEffect(() => {
    const timer = setTimeout(() => history.replaceState(null, '', formatHash(state)), 100)
    return () => clearTimeout(timer)
  }, [state])
  return [state, setState]
}
