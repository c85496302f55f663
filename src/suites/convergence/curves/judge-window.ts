import { type Verdict, worstVerdict } from '../../../domain/verdict.ts'
import type { CurveWindow, WindowJudgement } from './contract.ts'
import { recordingProblems, replayProblems } from './find-problems.ts'
import { judgeSeries, type Series } from './judge-series.ts'
import { metricAt } from './logged-values.ts'
import { nameReplays } from './replay-names.ts'

/** Judges every recorded step of every metric with a rule, in every replay, and collects all problems. */
export function judgeWindow(window: CurveWindow): WindowJudgement {
  const planned = Object.keys(window.rules).flatMap((metric) => seriesOf(window, metric))
  const replays = window.replays.map((replay) => replayProblems(replay, window, planned))
  const names = nameReplays(window)
  const named = replays.flatMap(({ problems }, i) =>
    problems.map(({ verdict, text }) => ({ verdict, text: names[i] === undefined ? text : `${names[i]}: ${text}` })),
  )
  const problems = [...recordingProblems(window, planned), ...named]
  const shares = planned.filter(({ rule }) => rule.tolerance.kind === 'ttest').length * Math.max(window.windows, 1)
  const series = planned.map((one) => judgeSeries(one, window, shares))
  return {
    verdict: wholeVerdict([...problems, ...series]),
    problems: problems.map(({ text }) => text),
    series,
    coverage: { compared: sum(replays, 'compared'), expected: sum(replays, 'expected') },
  }
}

function wholeVerdict(parts: readonly { readonly verdict: Verdict }[]): WindowJudgement['verdict'] {
  const worst = worstVerdict(parts.map(({ verdict }) => verdict))
  return worst === 'error' || worst === 'fail' ? worst : 'pass'
}

function sum<K extends string>(parts: readonly Readonly<Record<K, number>>[], key: K): number {
  return parts.reduce((total, part) => total + part[key], 0)
}

const NUMERIC = /^\d+$/

/** One for each label that any recorded step has. */
function seriesOf({ rules, recorded }: CurveWindow, metric: string): Series[] {
  const rule = rules[metric]!
  const all = [...recorded.keys()].sort((a, b) => a - b)
  const warmUp = new Set(all.slice(0, rule.warmUpSteps))
  const labels = [...new Set(all.flatMap((step) => Object.keys(metricAt(recorded, step, metric) ?? {})))]
  return labels.map((label) => {
    const steps = all.filter((step) => Object.hasOwn(metricAt(recorded, step, metric) ?? {}, label))
    const name = labels.length === 1 && NUMERIC.test(label) ? metric : `${metric}.${label}`
    return { name, metric, label, rule, steps, counted: steps.filter((step) => !warmUp.has(step)) }
  })
}
