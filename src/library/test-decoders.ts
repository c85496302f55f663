import { COMMON_OPTIONS } from '../options/common.ts'
import type { RunOutcome } from '../runs/execute/execute.ts'
import type { DecoderSettings } from '../suites/decoders/options/section.ts'
import { SIDE_OPTIONS } from '../suites/tensors/options.ts'
import { judgeRequest } from './judge-request.ts'
import type { TestOnnxOptions } from './test-onnx.ts'

/** What a configuration may hold goes before the project's own file. */
export interface TestDecodersOptions extends Omit<TestOnnxOptions, 'decoders'>, Omit<DecoderSettings, 'models'> {}

/** Judges text-generation models as `assay decoders test` does, records the run and returns it; nothing is printed. */
export async function testDecoders(
  models: string | readonly string[],
  options: TestDecodersOptions = {},
): Promise<RunOutcome> {
  const { keyword, pattern, config, noConfig, cwd, reporters, signal, notice, ...rest } = options
  const { decoders, settings } = sorted(rest)
  const { checkConfig } = await import('./config/check-config.ts')
  await checkConfig({ ...settings, decoders }, 'the options of testDecoders')
  const given = { ...settings, ...decoders, keyword, pattern, config, noConfig }
  const { targets, toolchains } = rest
  const sections = { ...(targets && { targets }), ...(toolchains && { toolchains }) }
  return judgeRequest({ command: 'decoders test', words: [models].flat(), options: given, sections }, options)
}

/** What every command has, and the rest, which only decoders may have. */
function sorted(options: Readonly<Record<string, unknown>>) {
  const isOfDecoders = ([key]: [string, unknown]) => !COMMON_KEYS.has(key)
  const entries = Object.entries(options)
  return {
    decoders: Object.fromEntries(entries.filter(isOfDecoders)),
    settings: Object.fromEntries(entries.filter((entry) => !isOfDecoders(entry))),
  }
}

const COMMON_KEYS: ReadonlySet<string> = new Set([
  ...['targets', 'toolchains', 'seed'],
  ...Object.keys({ ...COMMON_OPTIONS, ...SIDE_OPTIONS }),
])
