import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { unknown } from '../../domain/suggest.ts'
import { FIGURES, tableLines } from '../../domain/table.ts'
import { cleanText, formatBytes } from '../../domain/text.ts'
import { EXIT } from '../../domain/verdict.ts'
import { resolveOptions } from '../../options/resolve.ts'
import { listSpecs, omit, type Values as ValuesOf } from '../../options/table.ts'
import type { Style } from '../../reporters/style.ts'
import { type MicroSizes, microDecoder, readFamily } from '../../suites/decoders/micro/choices.ts'
import { type DecoderConfig, FAMILIES } from '../../suites/decoders/micro/decoder-config.ts'
import { exportFolder } from '../../suites/decoders/micro/export-folder.ts'
import { writeMicroFolder } from '../../suites/decoders/micro/write-folder.ts'
import { MICRO_OPTIONS } from '../command-options.ts'
import { type Action, chooseStyle } from '../io.ts'

const GRAPH_DTYPES = { fp32: 'float32', fp16: 'float16' } as const
const WEIGHT_DTYPES = { ...GRAPH_DTYPES, bf16: 'bfloat16' } as const

type Values = ValuesOf<typeof MICRO_OPTIONS>

export const micro: Action = async (words, options, io) => {
  const { values } = resolveOptions(MICRO_OPTIONS, { commandLine: options, environment: io.env, file: {} })
  const { head, folder, files } =
    values.from === undefined
      ? await writeRandom(words, values, io.cwd)
      : await writeExport(values.from, words, values, io.cwd)
  const lines = [head, ...fileLines(folder, files, io.cwd, chooseStyle(io.stdout, io, values))]
  io.stdout.write(`${lines.join('\n')}\n`)
  return EXIT.ok
}

interface Written {
  readonly head: string
  /** As the user gave it. */
  readonly folder: string
  readonly files: readonly string[]
}

async function writeRandom([word]: string[], values: Values, cwd: string): Promise<Written> {
  if (word === undefined) throw new UsageError('micro', `name an architecture: ${FAMILIES.join(', ')}`)
  const config = microDecoder(readFamily(word), sizesOf(values))
  const { seed, force, output: folder } = values
  const weightDType = WEIGHT_DTYPES[values.weights]
  const graphDTypes = graphDTypesOf(values)
  if (folder === undefined) throw new UsageError('micro', 'no output folder given; use -o <folder>')
  const files = await writeMicroFolder({
    folder: resolve(cwd, folder),
    config,
    seed,
    weightDType,
    graphDTypes,
    force,
  })
  return { head: `${title(config)}, seed ${seed}`, folder, files }
}

async function writeExport(folder: string, words: string[], values: Values, cwd: string): Promise<Written> {
  if (words.length > 0)
    throw new UsageError('micro', `--from reads the architecture from the folder; leave "${words[0]}" out`)
  const all: Readonly<Record<string, unknown>> = values
  const others = omit(MICRO_OPTIONS, ['from', 'dtype', 'force', 'color'])
  const given = listSpecs(others).find(({ key, default: usual }) => all[key] !== usual)
  if (given)
    throw new UsageError('micro', `--from takes everything from that folder; leave ${given.flags.split(' <')[0]} out`)
  const { config, files } = await exportFolder({
    folder: resolve(cwd, folder),
    graphDTypes: graphDTypesOf(values),
    force: values.force,
  })
  return { head: title(config), folder, files }
}

function sizesOf(values: Values): MicroSizes {
  const keys = ['layers', 'hidden', 'heads', 'kvHeads', 'intermediate', 'vocab', 'positions', 'slidingWindow'] as const
  return Object.fromEntries(keys.flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]])))
}

/** float16 is an addition: transformers.js and most others look for the float32 file first. */
function graphDTypesOf({ dtype }: Values) {
  const words = (dtype ?? []).flatMap((each) => each.split(','))
  const chosen = words.map((word) => choose(GRAPH_DTYPES, word, '--dtype'))
  return [...new Set(['float32' as const, ...chosen])]
}

function choose<T extends Readonly<Record<string, string>>>(known: T, word: string, flag: string): T[keyof T] {
  const key = Object.keys(known).find((name): name is Extract<keyof T, string> => name === word)
  if (key === undefined) throw unknown('micro', `precision "${word}" of ${flag}`, word, Object.keys(known))
  return known[key]!
}

function title({ family, layers, hidden, heads, keyValueHeads, vocabulary }: DecoderConfig): string {
  const sharing = heads === keyValueHeads ? `${heads} heads` : `${heads} heads on ${keyValueHeads}`
  return `${family}: ${layers} ${layers === 1 ? 'layer' : 'layers'}, hidden ${hidden}, ${sharing}, vocabulary ${vocabulary}`
}

function fileLines(folder: string, files: readonly string[], cwd: string, style: Style): string[] {
  const sign = style.paint('green', style.ascii ? '+' : '✓')
  const rows = files.map((name) => {
    const size = formatBytes(statSync(resolve(cwd, folder, name)).size)
    return [`${sign} ${cleanText(join(folder, name), 200)}`, style.paint('dim', size)]
  })
  return tableLines(rows, FIGURES)
}
