import { UsageError } from '../../../domain/errors.ts'
import { nameOfTarget, type Target } from '../../../domain/target.ts'
import { cleanText } from '../../../domain/text.ts'
import { findSchema } from '../../../runtimes/registry.ts'

/** A target that names no board gets the one that is given for all; a list makes a target for each. */
export function onBoards(target: Target, forAll: string | undefined): Target[] {
  const { address } = findSchema(target.runtime)
  const { board, ...options } = target.options
  if (address && target.device !== '') {
    if (board !== undefined) throw twoBoards(target, board)
    return [target]
  }
  const boards = (board ?? forAll)?.split(',') ?? []
  if (address && boards.length === 0) throw noBoard(target)
  if (boards.length === 0) return [target]
  const isNamed = target.name !== nameOfTarget(target, findSchema(target.runtime))
  const suffixed = isNamed && boards.length > 1
  return boards.map((each) => onBoard({ ...target, options }, each, { isNamed, suffixed }))
}

/** There is one reference, so it is on one board. */
export function onOneBoard(target: Target, forAll: string | undefined): Target {
  const [first, ...others] = onBoards(target, forAll)
  if (others.length === 0) return first!
  throw new UsageError('board', `the reference ${target.name} would be on several boards; name one in --reference`)
}

interface Naming {
  readonly isNamed: boolean
  readonly suffixed: boolean
}

function onBoard(target: Target, board: string, { isNamed, suffixed }: Naming): Target {
  if (!/^[^\s\p{Cc}-][^\s\p{Cc}]*$/u.test(board)) throw badBoard(board)
  const schema = findSchema(target.runtime)
  const placed = schema.address ? { ...target, device: board } : { ...target, options: { ...target.options, board } }
  schema.check?.(placed)
  const given = suffixed ? `${target.name}[${board}]` : target.name
  return { ...placed, name: isNamed ? given : nameOfTarget(placed, schema) }
}

function badBoard(board: string): UsageError {
  const found = `the board "${cleanText(board, 120)}" is refused`
  return new UsageError('board', `${found}; expected [user@]host, as in --board root@10.0.0.7, several with commas`)
}

function twoBoards({ name, device }: Target, board: string): UsageError {
  return new UsageError(
    'target',
    `target "${name}" names two boards, ${device} and board=${cleanText(board, 120)}; leave one out`,
  )
}

function noBoard({ runtime, name }: Target): UsageError {
  return new UsageError(
    'target',
    `target "${name}" names no board; write ${runtime}:user@host, or give it for all with --board user@host`,
  )
}
