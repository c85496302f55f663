import type { Environment } from '../domain/environment.ts'
import type { OptionSpec } from './table.ts'

interface UnreadVariables {
  /** A name, or a prefix followed by a star. */
  readonly names: readonly string[]
  readonly why: string
  /** The names are so common that they count only if this variable is set too. */
  readonly beside?: string
}

/** Variables that the documentation of other tools sets and Assay does not read. */
const UNREAD: readonly UnreadVariables[] = [
  {
    names: ['TORQ_PERF_SERVER', 'TORQ_PERF_SERVER_TOKEN', 'TORQ_PERF_BATCH_NAME', 'TORQ_PERF_TEST_PLAN'],
    why: 'results are not sent to a server, they stay in the run record',
  },
  {
    names: [
      ...['TORQ_COMPILE', 'TORQ_RUN_MODULE', 'TORQ_BENCHMARK_MODULE', 'TORQ_RT_CM'],
      ...['IREE_COMPILE', 'IREE_RUN_MODULE', 'IREE_OPT', 'IREE_BUILD_DIR', 'IREE_SOC_BUILD_DIR'],
    ],
    why: 'a toolchain in the configuration names its own programs',
  },
  { names: ['ADB_SERVER_HOST', 'ADB_SERVER_PORT'], why: 'boards are reached over ssh' },
  { names: ['S3_HF_CACHE_*'], why: 'models come from folders and from the Hugging Face cache' },
  {
    names: ['MODEL_PATHS', 'BATCH_SIZES', 'SEQ_LENGTHS', 'MAX_NEW_TOKENS', 'OUTPUT_PATH'],
    why: 'assay layers alone reads these names',
    beside: 'MODEL_PATHS',
  },
]

/** One line for each group of set variables that have no effect. Values are never shown. */
export function unreadVariables(environment: Environment, reading: readonly OptionSpec[]): string[] {
  const read = reading.flatMap(({ variable = [] }) => variable)
  const names = Object.keys(environment).filter((name) => environment[name] !== '' && !read.includes(name))
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
