import type { RunOutcome } from '../../runs/execute/execute.ts'
import type { DecoderSettings } from '../../settings/assay-config.ts'
import { checkConfig } from '../../settings/config-schema.ts'
import { TEST_OPTIONS } from '../../settings/option-table.ts'
import type { TestOnnxOptions } from '../test-onnx.ts'
import { decodersInvocation } from './decoders-invocation.ts'
import { judgeDecoders } from './judge-decoders.ts'

/** What a configuration may hold goes before the project's own file. */
export interface TestDecodersOptions extends Omit<TestOnnxOptions, 'decoders'>, Omit<DecoderSettings, 'models'> {}

/** Judges text-generation models as `assay decoders test` does, records the run and returns it; nothing is printed. */
export async function testDecoders(
  models: string | readonly string[],
  options: TestDecodersOptions = {},
): Promise<RunOutcome> {
  const { keyword, pattern, cwd = process.cwd(), config, reporters = [], signal, notice = () => {}, ...rest } = options
  const { decoders, settings } = sorted(rest)
  checkConfig({ ...settings, decoders }, 'the options of testDecoders')
  const asked = {
    command: 'decoders test' as const,
    cwd,
    paths: [models].flat(),
    environment: process.env,
    options: { ...settings, ...decoders, keyword, pattern, config },
  }
  const invocation = await decodersInvocation(asked, notice)
  return judgeDecoders(invocation, {
    reporters,
    notice,
    ...(signal && { signals: { stop: signal, abort: signal } }),
  })
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

const COMMON_KEYS: ReadonlySet<string> = new Set(['targets', 'toolchains', ...Object.keys(TEST_OPTIONS)])
