import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'
import { NEEDS, type Need, needTag } from './needs.ts'

/** After a run one line for every kind of thing that was skipped: how many tests, why, and how to get it. */
export default class SkippedReporter implements Reporter {
  #isNarrowed = false

  onInit({ config }: Vitest): void {
    this.#isNarrowed = config.testNamePattern !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // Then most are left out because nobody asked for them.
    if (this.#isNarrowed) return
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')])
    for (const line of skippedLines(skipped.map(textOf))) process.stdout.write(`${line}\n`)
  }
}

function textOf(test: TestCase): string {
  const result = test.result()
  return `${test.fullName} ${('note' in result && result.note) || ''}`
}

/** Of titles that name what they need. */
export function skippedLines(titles: readonly string[]): string[] {
  const needs = (Object.keys(NEEDS) as Need[]).map((need) => {
    const count = titles.filter((title) => title.includes(needTag(need))).length
    const [what, how] = NEEDS[need]
    return count === 0 ? [] : [`skipped ${testsText(count)} for lack of ${what}; to run: ${how}`]
  })
  const others = titles.filter((title) => !title.includes('[needs ')).length
  const rest = `skipped ${testsText(others)} where a runtime or a machine cannot do it; each title says why`
  return [...needs.flat(), ...(others === 0 ? [] : [rest])]
}

function testsText(count: number): string {
  return count === 1 ? '1 test' : `${count} tests`
}
