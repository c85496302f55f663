import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { CommonValues } from '../options/common-values.ts'
import type { LaunchContext } from '../runtimes/contract.ts'
import type { Pool } from '../runtimes/host/pool.ts'
import type { WarmWorkers } from '../runtimes/host/warm-workers.ts'
import type { Notice } from '../suites/contract.ts'
import type { Invocation } from './invocation.ts'

interface PoolListeners {
  readonly notice: Notice
  readonly onOutput?: LaunchContext['onOutput']
  readonly workers?: WarmWorkers
}

/** The workers of a run, made when the first suite asks for them: training needs none. */
export class LazyPool {
  readonly #invocation: Invocation
  readonly #listeners: PoolListeners
  #pool: Promise<Pool> | null = null

  constructor(invocation: Invocation, listeners: PoolListeners) {
    this.#invocation = invocation
    this.#listeners = listeners
  }

  open(): Promise<Pool> {
    this.#pool ??= poolFor(this.#invocation, this.#listeners)
    return this.#pool
  }

  async close(): Promise<void> {
    await (await this.#pool)?.close()
  }
}

async function poolFor(
  { cwd, environment, values, loaded }: Invocation,
  { notice, onOutput, workers }: PoolListeners,
): Promise<Pool> {
  const [{ createPool }, { readToolchains }] = await Promise.all([
    import('../runtimes/host/pool.ts'),
    import('../runtimes/toolchain/toolchains.ts'),
  ])
  const { python } = values
  const context: LaunchContext = {
    projectFolder: cwd,
    runtimesFolder: join(cwd, '.assay', 'runtimes'),
    environment,
    usesProject: !values.noConfig,
    toolchains: readToolchains(loaded.config.toolchains ?? {}, cwd),
    owner: randomBytes(16).toString('hex'),
    notice,
    ...(onOutput && { onOutput }),
    ...(python !== undefined && { python }),
  }
  const stageMs = values.timeout * 1000
  return createPool({
    size: countJobs(values),
    context,
    limits: {
      startMs: Math.min(stageMs, 60_000),
      compileMs: stageMs,
      runMs: stageMs,
      memoryBytes: values.memoryLimit,
      outputBytes: values.outputLimit,
    },
    ...(values.isolate === 'case' && { isolate: 'case' as const }),
    ...(workers && { warm: workers }),
  })
}

export function countJobs(values: CommonValues): number {
  return values.jobs ?? availableParallelism()
}
