import { chooseKernels } from '../compare/kernels/choose.ts'
import type { RunOutcome } from '../runs/execute/execute.ts'
import type { AssayConfig } from './config/assay-config.ts'
import { judgeRequest, type RunOptions } from './judge-request.ts'

/** What a configuration may hold goes before the project's own file. */
export interface TestOnnxOptions extends Omit<AssayConfig, 'models' | 'reporter'>, RunOptions {
  /** Only cases whose id contains these words, as `-k` takes them. */
  readonly keyword?: string
  /** Only cases whose id matches this regular expression, as `-t` takes it. */
  readonly pattern?: string
  /** Configuration file, instead of the one found in `cwd`. */
  readonly config?: string
  /** `cwd` is a stranger's: no assay.config.* of it is loaded and no program of it is run. */
  readonly noConfig?: boolean
}

/** Judges ONNX models as `assay test` does, records the run and returns it; nothing is printed. */
export async function testOnnx(models: string | readonly string[], options: TestOnnxOptions = {}): Promise<RunOutcome> {
  const { keyword, pattern, config, noConfig, cwd, reporters, signal, notice, ...settings } = options
  const { checkConfig } = await import('./config/check-config.ts')
  await checkConfig(settings, 'the options of testOnnx')
  chooseKernels(process.env.ASSAY_KERNELS)
  const given = { ...settings, keyword, pattern, config, noConfig }
  return judgeRequest({ command: 'test', words: [models].flat(), options: given, sections: settings }, options)
}
