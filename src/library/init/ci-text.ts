import { unknown } from '../../domain/suggest.ts'

export const CI_KINDS = ['github', 'gitlab', 'none'] as const
export type CiKind = (typeof CI_KINDS)[number]

export function readCi(word: string): CiKind {
  const known = CI_KINDS.find((kind) => kind === word)
  if (known) return known
  throw unknown('ci', `--ci "${word}"`, word, CI_KINDS)
}

export interface CiFacts {
  /** From the repository's root to the project; empty where they are the same. */
  readonly folder: string
  readonly nodeVersion: string
  /** Commands that bring what the project depends on; empty where it has no package.json. */
  readonly install: readonly string[]
  /** `npx assay`, or with a version where the project does not depend on it. */
  readonly assay: string
}

export function githubWorkflow({ folder, nodeVersion, install, assay }: CiFacts): string {
  const commands = [...install, `${assay} run`].map((command) => `      - run: ${command}\n`).join('')
  const inside = folder === '' ? '' : `    defaults:\n      run:\n        working-directory: ${yamlText(folder)}\n`
  return `name: assay

on:
  push:
  pull_request:

permissions:
  contents: read

jobs:
  assay:
    runs-on: ubuntu-latest
    timeout-minutes: 30
${inside}    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: ${nodeVersion}
${commands}      - uses: actions/upload-artifact@v4
        if: \${{ !cancelled() }}
        with:
          name: assay-run
          path: ${yamlText([folder, '.assay/runs'].filter(Boolean).join('/'))}
          # .assay begins with a dot, and such folders are left out otherwise.
          include-hidden-files: true
`
}

export function gitlabPipeline({ folder, nodeVersion, install, assay }: CiFacts): string {
  const inside = folder === '' ? [] : [`cd '${folder.replaceAll("'", `'\\''`)}'`]
  const run = `${assay} run --reporter terminal --reporter junit:assay-report.xml`
  const commands = [...inside, ...install, run].map((command) => `    - ${yamlText(command)}\n`).join('')
  const below = (path: string) => yamlText([folder, path].filter(Boolean).join('/'))
  return `assay:
  image: node:${nodeVersion}
  timeout: 30 minutes
  script:
${commands}  artifacts:
    when: always
    paths:
      - ${below('.assay/runs')}
    reports:
      junit: ${below('assay-report.xml')}
`
}

/** Everything that JSON quotes, YAML reads. */
function yamlText(text: string): string {
  return /^[\w.][\w./@ -]*$/.test(text) && !/^[\d.]+$/.test(text) ? text : JSON.stringify(text)
}
