import { chooseKernels } from '../compare/kernels/choose.ts'
import type { Reporter } from '../domain/run.ts'
import type { RunOutcome, RunSignals } from '../runs/execute/execute.ts'
import type { AssayConfig } from '../settings/assay-config.ts'
import { checkConfig } from '../settings/config-schema.ts'
import { invocationOf } from './invocation.ts'
import { judgeOnnx } from './judge-onnx.ts'

/** What a configuration may hold goes before the project's own file. */
export interface TestOnnxOptions extends Omit<AssayConfig, 'models' | 'reporter'> {
  /** Only cases whose id contains these words, as `-k` takes them. */
  readonly keyword?: string
  /** Only cases whose id matches this regular expression, as `-t` takes it. */
  readonly pattern?: string
  /** Whose assay.config.* counts and where paths begin; the current folder by default. */
  readonly cwd?: string
  /** Configuration file, instead of the one found in `cwd`. */
  readonly config?: string
  /** `cwd` is a stranger's: no assay.config.* of it is loaded and no program of it is run. */
  readonly noConfig?: boolean
  /** Hear of every case while the run goes on. */
  readonly reporters?: readonly Reporter[]
  /** Ends the run. */
  readonly signal?: AbortSignal
  /** What has no place in an event, such as that a runtime is being installed. */
  readonly notice?: (text: string) => void
}

/** Judges ONNX models as `assay test` does, records the run and returns it; nothing is printed. */
export async function testOnnx(models: string | readonly string[], options: TestOnnxOptions = {}): Promise<RunOutcome> {
  const {
    keyword,
    pattern,
    cwd = process.cwd(),
    config,
    noConfig,
    reporters = [],
    signal,
    notice = () => {},
    ...settings
  } = options
  checkConfig(settings, 'the options of testOnnx')
  chooseKernels(process.env.ASSAY_KERNELS)
  const asked = { command: 'test' as const, cwd, paths: [models].flat(), environment: process.env, sections: settings }
  const invocation = await invocationOf({ ...asked, options: { ...settings, keyword, pattern, config, noConfig } })
  return judgeOnnx(invocation, { reporters, notice, ...(signal && { signals: signalsOf(signal) }) })
}

function signalsOf(signal: AbortSignal): RunSignals {
  return { stop: signal, abort: signal }
}
