import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { CASE_OPTIONS, COMMON_OPTIONS } from '../../src/options/common.ts'
import { list, whole } from '../../src/options/kinds.ts'
import type { OptionTable, Values } from '../../src/options/table.ts'
import type { Case, Suite } from '../../src/runs/contract.ts'
import type { SuiteKind, SuiteRequest } from '../../src/suites/contract.ts'

const TEXT_OPTIONS = {
  files: { flags: '--files <paths>', kind: list, default: [], help: 'texts to judge, besides those given' },
  longest: { flags: '--longest <n>', kind: whole(1), default: 80, repeated: true, help: 'longest line that passes' },
} satisfies OptionTable
const OPTIONS = { ...TEXT_OPTIONS, ...COMMON_OPTIONS }

interface TextCase extends Case {
  readonly path: string
}

type TextRequest = SuiteRequest<Values<typeof OPTIONS>, { texts?: object }>

function pathsOf({ words, values, cwd }: TextRequest): string[] {
  return [...words, ...values.files].map((path) => resolve(cwd, path))
}

function textSuite(request: TextRequest, paths: readonly string[]): Suite<TextCase> {
  const { longest } = request.values
  return {
    name: 'texts',
    async *collect() {
      for (const path of paths) {
        const sides = { reference: 'limit', target: 'text', affinity: path, aliases: [] }
        yield {
          id: `${basename(path)}/lines@text`,
          suite: 'texts',
          model: basename(path),
          scope: 'lines',
          path,
          ...sides,
        }
      }
    },
    async judge({ path }, lab) {
      const { value } = await lab.step({ title: `read ${path}`, stage: 'run', key: null }, () => readFile(path, 'utf8'))
      const most = Math.max(...value.split('\n').map((line) => line.length))
      return {
        verdict: most <= longest ? 'pass' : 'fail',
        ...(most > longest && { reason: `a line has ${most} characters, allowed are ${longest}` }),
        flags: [],
        coverage: { compared: 1, expected: 1 },
        metrics: [{ name: 'longest', direction: 'lower', value: most, threshold: longest, count: 1 }],
        outputs: [],
        worst: [],
        measurements: {},
      }
    },
  }
}

/** A suite that this package does not have: a text passes where none of its lines is too long. */
export const TEXTS: SuiteKind<Values<typeof OPTIONS>, { texts?: object }> = {
  name: 'texts',
  command: { name: 'text', argument: '[files...]', summary: 'judge texts by their longest line', completes: 'files' },
  options: OPTIONS,
  groups: { Texts: TEXT_OPTIONS, Selection: CASE_OPTIONS },
  section: { key: 'texts', options: TEXT_OPTIONS },
  isConfigured: ({ texts }) => texts !== undefined,
  load: async () => ({
    plan: async (asked, { only }) => {
      const request = asked as TextRequest
      const paths = pathsOf(request).filter((path) => only?.includes(path) ?? true)
      return { suites: [textSuite(request, paths)], choices: { longest: request.values.longest } }
    },
    watches: async (asked) => async () => {
      const paths = pathsOf(asked as TextRequest)
      return { models: new Map(paths.map((path) => [path, [path]])), others: [] }
    },
  }),
}
