import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { MICRO_OPTIONS } from '../../src/cli/command-options.ts'
import { compareTensors } from '../../src/compare/compare-tensors.ts'
import type { Rule } from '../../src/compare/contract.ts'
import { formatLimit } from '../../src/compare/rules/rule-text.ts'
import { tableRule, toleranceFor } from '../../src/compare/rules/tolerances.ts'
import { DTYPES, type DType } from '../../src/domain/dtype.ts'
import { UsageError } from '../../src/domain/errors.ts'
import { resolveOptions } from '../../src/options/resolve.ts'
import { hasShownDefault, listSpecs, type OptionSpec } from '../../src/options/table.ts'
import { BASE_VARIABLES } from '../../src/runtimes/process/inherited-environment.ts'
import { findSchema, TARGET_SCHEMAS } from '../../src/runtimes/registry.ts'
import { TOOLCHAIN_KEYS } from '../../src/runtimes/toolchain/read-toolchain.ts'
import { PLACEHOLDERS } from '../../src/runtimes/toolchain/template.ts'
import { TEST_OPTIONS } from '../../src/suites/onnx/options.ts'
import { encodeNumbers } from '../../src/tensors/encode.ts'
import { memorySource } from '../../src/tensors/memory-source.ts'
import { assay, assayJson, root } from '../support/assay.ts'
import { hasBrowser } from '../support/browser.ts'
import { floats, runLine, sampleProject } from '../support/docs-project.ts'
import { TEST_PYTHON } from '../support/python.ts'

const EXAMPLES = [
  'convergence',
  'decoders/shakespeare',
  'python-worker',
  'real-models',
  'toolchain',
  'torch-backend',
  'training',
].map((name) => `examples/${name}`)
const pages = ['.', 'docs', 'bench', ...EXAMPLES].flatMap((folder) =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder))
        .filter((name) => name.endsWith('.md'))
        .map((name) => join(folder, name))
    : [],
)
const userPages = pages.filter((page) => page === 'README.md' || page.startsWith('docs'))
const textOf = (page: string) => readFileSync(join(root, page), 'utf8')

/** Commands that are only parsed, by appending --list, and why. */
const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/command:/, 'needs a worker that the reader has written'],
  [/toolchain:|mychip/, 'needs a compiler that the reader has'],
  [/ort(-web)?@/, 'installs another version'],
  [/browser:/, 'waits for a person'],
  [/^assay setup python/, 'installs; --list tells what'],
  ...(TEST_PYTHON ? [] : [[/onnxruntime:|onnx-reference:|openvino:|iree:/, 'needs a Python with engines'] as const]),
  [/\bssh[:,]/, 'needs a board'],
  ...(hasBrowser ? [] : [[/chromium:/, 'needs a browser'] as const]),
]

interface DocumentedCommand {
  readonly line: string
  readonly exitCode: number
}

/** Lines of ```sh blocks that call assay; `# … exits with 1` says what to expect. */
function commandsIn(page: string): DocumentedCommand[] {
  const blocks = [...textOf(page).matchAll(/^```sh\n([\s\S]*?)^```/gm)].map((match) => match[1]!)
  const lines = blocks.flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
  return lines
    .filter((line) => /^(\w+=\S+ )*(npx )?assay /.test(line))
    .map((line) => ({ line: parsedOnly(line), exitCode: Number(/ # .*exits with (\d)/.exec(line)?.[1] ?? 0) }))
}

function parsedOnly(line: string): string {
  const isRun = !NOT_RUN.some(([pattern]) => pattern.test(line))
  return isRun ? line : `${line.replace(/ +# .*$/, '')} --list`
}

const projects: string[] = []
afterAll(() => {
  for (const folder of projects) rmSync(folder, { recursive: true, force: true })
})

async function newProject(): Promise<string> {
  const folder = await sampleProject()
  projects.push(folder)
  return folder
}

/** The first configuration of a page. */
function exampleIn(page: string): string {
  return /^```ts\n([\s\S]*?)^```/m.exec(textOf(page))![1]!
}

describe('commands in the documentation', () => {
  test.concurrent.each(userPages.filter((page) => commandsIn(page).length > 0))(
    '%s: every one works',
    async (page) => {
      const folder = await newProject()
      if (page.endsWith('toolchains.md')) writeFileSync(join(folder, 'assay.config.ts'), exampleIn(page))
      for (const { line, exitCode } of commandsIn(page)) {
        const { code, output } = await runLine(line, folder)
        expect(code, `${line}\n${output}`).toBe(exitCode)
      }
    },
    900_000,
  )

  test('most commands are run and not only parsed', () => {
    const lines = userPages.flatMap(commandsIn).map(({ line }) => line)
    expect(lines.filter((line) => !line.endsWith('--list')).length).toBeGreaterThan(0.7 * lines.length)
  })

  test('the example of a configuration is one', async () => {
    const folder = await newProject()
    writeFileSync(join(folder, 'assay.config.ts'), exampleIn('docs/configuration.md'))
    const { code, results, stderr } = await assayJson(['test', '-k', 'classifier'], folder)
    expect(code, stderr).toBe(0)
    expect(results.map((result) => result.target)).toEqual(['ort-web:wasm', 'plain'])
    for (const { outputs, measurements } of results) {
      expect(outputs[0]!.rule).toContain('config tolerances[1]')
      expect(measurements['dim.batch']).toContain('2')
      expect(measurements['input.features']).toContain('features.npy')
    }
  })
})

describe('links in the documentation', () => {
  test.each(pages)('%s: every one leads somewhere', (page) => {
    const targets = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!)
    const local = targets.filter((target) => !/^https?:/.test(target))
    expect(local.filter((target) => !leadsSomewhere(page, target))).toEqual([])
  })
})

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? join(root, page) : resolve(root, dirname(page), path)
  if (!existsSync(file) || relative(root, file).startsWith('..')) return false
  return anchor === undefined || anchorsIn(readFileSync(file, 'utf8')).includes(anchor)
}

/** As GitHub makes them of headings. */
function anchorsIn(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map((match) => match[1]!)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** The rows of a table between `<!-- generated: title -->` and `<!-- end -->`. */
function rowsOf(page: string, title: string): string[] {
  const table = textOf(page).split(`<!-- generated: ${title} -->\n`)[1]?.split('\n<!-- end -->')[0]
  return table?.split('\n').slice(2) ?? []
}

const row = (...cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

describe('tables in the documentation say what the code says', () => {
  test('options', () => {
    expect(rowsOf('docs/configuration.md', 'options')).toEqual(listSpecs(TEST_OPTIONS).map(optionRow))
  })

  test('options of assay micro', () => {
    expect(rowsOf('docs/micro.md', 'micro options')).toEqual(listSpecs(MICRO_OPTIONS).map(optionRow))
  })

  test('an option has three spellings, all with the same effect', () => {
    const page = textOf('docs/configuration.md')
    const [, flag, key, variable] = /`--memory-limit (\w+)`, `(\w+): '4gb'`, `(\w+)=4gb`/.exec(page)!
    const nothing = { commandLine: {}, environment: {}, file: {} }
    const spellings = [
      { ...nothing, commandLine: { memoryLimit: flag } },
      { ...nothing, file: { [key!]: '4gb' } },
      { ...nothing, environment: { [variable!]: '4gb' } },
    ]
    const limits = spellings.map((sources) => resolveOptions(TEST_OPTIONS, sources).values.memoryLimit)
    expect(limits).toEqual([4e9, 4e9, 4e9])
  })

  test('exit codes', async () => {
    const { stdout } = await assay(['--help'], root)
    const codes = [...stdout.matchAll(/^ {2}(\d) {2}(.*)$/gm)].map((match) => row(match[1]!, match[2]!))
    expect(codes).toHaveLength(6)
    expect(rowsOf('docs/configuration.md', 'exit codes')).toEqual(codes)
  })

  test('tolerances', () => {
    expect(rowsOf('docs/comparison.md', 'tolerances')).toEqual(precisions().map(toleranceRow))
  })

  test('runtimes and their options', () => {
    expect(rowsOf('docs/targets.md', 'runtimes')).toEqual(Object.keys(TARGET_SCHEMAS).map(runtimeRow))
  })

  test('variables that a program gets', () => {
    const [, list = ''] = /<!-- generated: variables -->\n(.*)\n<!-- end -->/.exec(textOf('docs/targets.md')) ?? []
    expect(list).toBe(BASE_VARIABLES.map((name) => `\`${name}\``).join(', '))
  })

  test('keys and placeholders of toolchains', () => {
    const page = textOf('docs/toolchains.md')
    const names = (title: string) => {
      const [, table = ''] = new RegExp(`^## ${title}\\n([\\s\\S]*?)^(?:##|- )`, 'm').exec(page) ?? []
      const cells = table
        .split('\n')
        .filter((line) => line.startsWith('| `'))
        .map((line) => line.split(' | ')[0]!)
      return cells.flatMap((cell) => [...cell.matchAll(/`\{?(\w+)\}?`/g)].map((match) => match[1]!)).sort()
    }
    expect(names('Placeholders')).toEqual([...PLACEHOLDERS].sort())
    expect(names('Keys')).toEqual([...TOOLCHAIN_KEYS].sort())
  })

  test('metrics', async () => {
    const table = textOf('docs/comparison.md').split('<!-- metrics -->')[1]!.split('<!-- end -->')[0]!
    const documented = table.split('\n').flatMap((line) => [...(line.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)])
    expect(new Set(documented.map((match) => match[1]))).toEqual(await metricNames())
  })
})

function optionRow(spec: OptionSpec): string {
  const [, help = '', inWords] = /^(.*?)(?: \(default: (.*)\))?$/.exec(spec.help)!
  const flags = [spec.flags, ...(spec.aliases ?? []), ...(spec.documented ?? [])]
    .map((flag) => `\`${flag}\``)
    .join(', ')
  return row(
    flags,
    spec.commandLineOnly || spec.outsideFile ? '–' : `\`${spec.key}\``,
    inWords ?? defaultOf(spec),
    help,
  )
}

function defaultOf(spec: OptionSpec): string {
  return hasShownDefault(spec) ? `\`${spec.kind.write(spec.default)}\`` : ''
}

/** Dtypes with a row of their own. */
function precisions(): DType[] {
  const dtypes = Object.keys(DTYPES) as DType[]
  const rowNames = dtypes.flatMap((dtype) => {
    try {
      return [tableRule(dtype, 'model').source.split(' ')[0]!]
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      return []
    }
  })
  return dtypes.filter((dtype) => rowNames.includes(dtype))
}

function toleranceRow(dtype: DType): string {
  const { rtol, scale, relL2, floor } = toleranceFor(dtype, 'model')
  return row(`\`${dtype}\``, ...[rtol, scale, relL2!, floor].map(formatLimit))
}

function runtimeRow(name: string): string {
  const { defaultDevice, options } = findSchema(name)
  const texts = Object.entries(options).map(([key, value]) => `\`${key}=\`${value === null ? '' : ` (${value})`}`)
  return row(`\`${name}\``, defaultDevice ? `\`${defaultDevice}\`` : 'none: it must be given', texts.join(', '))
}

async function metricNames(): Promise<Set<string>> {
  const values = memorySource('v', floats([2], [1, 2]))
  const indices = memorySource('i', { dtype: 'int64', shape: [1], bytes: encodeNumbers('int64', [0]) })
  const { tolerance } = tableRule('float32', 'model')
  const selection = { op: 'ArgMax', tensor: 'v', axis: 0, keepDims: true } as const
  const rule: Rule = { kind: 'index', selection, tolerance, source: 'test' }
  const context = { generated: false, targetDType: null }
  const results = [
    await compareTensors(values, values, tableRule('float32', 'model'), context),
    await compareTensors(indices, indices, rule, { ...context, indexed: values }),
  ]
  return new Set(results.flatMap((result) => result.metrics.map((metric) => metric.name)))
}
