import type { Environment } from '../domain/environment.ts'

interface UnreadVariables {
  /** A name, or the beginning of names with a star behind it. */
  readonly names: readonly string[]
  readonly why: string
  /** Their names are so common that they only count beside this one. */
  readonly beside?: string
}

/** What the documents of other tools set in the environment, and nothing here reads. */
const UNREAD: readonly UnreadVariables[] = [
  {
    names: ['TORQ_PERF_SERVER', 'TORQ_PERF_SERVER_TOKEN', 'TORQ_PERF_BATCH_NAME', 'TORQ_PERF_TEST_PLAN'],
    why: 'results are sent to no server, they stay in the run record',
  },
  {
    names: [
      ...['TORQ_COMPILE', 'TORQ_RUN_MODULE', 'TORQ_BENCHMARK_MODULE', 'TORQ_RT_CM'],
      ...['IREE_COMPILE', 'IREE_RUN_MODULE', 'IREE_OPT', 'IREE_BUILD_DIR', 'IREE_SOC_BUILD_DIR'],
    ],
    why: 'a toolchain of the configuration names its programs itself',
  },
  { names: ['ADB_SERVER_HOST', 'ADB_SERVER_PORT'], why: 'boards are reached by ssh' },
  { names: ['S3_HF_CACHE_*'], why: 'models come from folders and from the Hugging Face cache' },
  {
    names: ['MODEL_PATHS', 'BATCH_SIZES', 'SEQ_LENGTHS', 'MAX_NEW_TOKENS', 'OUTPUT_PATH'],
    why: 'models are arguments, and assay decoders has options for the rest',
    beside: 'MODEL_PATHS',
  },
]

/** A line for each group of variables that are set and change nothing. Their values are not told. */
export function unreadVariables(environment: Environment): string[] {
  const names = Object.keys(environment).filter((name) => environment[name] !== '')
  return UNREAD.flatMap(({ names: unread, why, beside }) => {
    const found = names.filter((name) => unread.some((one) => fits(name, one)))
    if (found.length === 0 || (beside !== undefined && !found.includes(beside))) return []
    const what = found.sort().join(', ')
    return [`${what} in the environment ${found.length === 1 ? 'does' : 'do'} nothing here: ${why}`]
  })
}

function fits(name: string, unread: string): boolean {
  return unread.endsWith('*') ? name.startsWith(unread.slice(0, -1)) : name === unread
}
