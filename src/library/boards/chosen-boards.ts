import { UsageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { findSchema } from '../../runtimes/registry.ts'
import { addressText } from '../../runtimes/ssh/kind.ts'
import { onBoards } from '../../suites/tensors/targets/boards.ts'
import { targetNamed } from '../../suites/tensors/targets/chosen-targets.ts'
import type { AssayConfig } from '../config/assay-config.ts'

/** A board, with the names of the configuration's targets that are on it. */
export interface ChosenBoard {
  /** `root@board,port=2222`, with the lease where it is a special one. */
  readonly board: string
  readonly target: Target
  readonly targets: readonly string[]
}

/** Boards by name, spec or address; without any, those of the configuration. */
export function chosenBoards(
  words: readonly string[],
  config: AssayConfig,
  forAll: string | undefined,
): readonly ChosenBoard[] {
  const named = Object.keys(config.targets ?? {})
  const ofConfig = named.filter((name) => targetNamed(name, config).runtime === 'ssh')
  const others = words.length === 0 && forAll !== undefined ? forAll.split(',') : words
  const specs = words.length === 0 ? [...ofConfig, ...others] : words
  const targets = specs.flatMap((word) => onBoards(boardTarget(word, config), forAll))
  return joined(targets, named)
}

function boardTarget(word: string, config: AssayConfig): Target {
  if (Object.hasOwn(config.targets ?? {}, word)) return sshTarget(targetNamed(word, config), word)
  const spec = /^(?:[^:@,=]+=)?ssh(?:$|[:,])/.test(word) ? word : `ssh:${word}`
  // What would run there does not matter here.
  return targetNamed(/,(?:program|deploy)=/.test(spec) ? spec : `${spec},program=sh`, config)
}

function sshTarget(target: Target, word: string): Target {
  if (target.runtime === 'ssh') return target
  throw new UsageError('board', `the target "${word}" runs with ${target.runtime}; only ssh targets are on boards`)
}

function joined(targets: readonly Target[], named: readonly string[]): ChosenBoard[] {
  const boards = new Map<string, ChosenBoard>()
  for (const target of targets) {
    const board = boardText(target)
    const known = boards.get(board)?.targets ?? []
    const names = named.includes(target.name) ? [...known, target.name] : known
    boards.set(board, { board, target, targets: names })
  }
  return [...boards.values()]
}

function boardText(target: Target): string {
  const { lease, folder } = target.options
  const special = lease === undefined || lease === findSchema('ssh').options.lease ? '' : `,lease=${lease}`
  return `${addressText(target)}${special}${folder === undefined ? '' : `,folder=${folder}`}`
}
