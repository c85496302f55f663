import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { BoardError } from '../../runtimes/ssh/board-command.ts'
import {
  type BoardReport,
  type CleanOutcome,
  cleanBoard,
  type FreeOutcome,
  freeBoard,
  surveyBoard,
} from '../../runtimes/ssh/survey-board.ts'
import type { ChosenBoard } from './chosen-boards.ts'

interface Outcomes {
  readonly list: BoardReport
  readonly free: FreeOutcome
  readonly clean: CleanOutcome
}

export type BoardAction = keyof Outcomes

/** What was found or done on one board; `reason` says why nothing could be. */
export interface BoardOutcome<Action extends BoardAction = BoardAction> {
  readonly board: string
  readonly targets: readonly string[]
  readonly outcome: Outcomes[Action] | null
  readonly reason: string | null
}

export interface BoardsRequest {
  readonly boards: readonly ChosenBoard[]
  readonly cwd: string
  readonly environment: Environment
  readonly isForced: boolean
}

/** All boards at once; one that cannot be reached keeps nobody waiting. */
export function workOnBoards<Action extends BoardAction>(
  action: Action,
  request: BoardsRequest,
): Promise<BoardOutcome<Action>[]> {
  return Promise.all(request.boards.map((board) => workOn(action, board, request)))
}

async function workOn<Action extends BoardAction>(
  action: Action,
  { board, target, targets }: ChosenBoard,
  { cwd, environment, isForced }: BoardsRequest,
): Promise<BoardOutcome<Action>> {
  const project = { folder: cwd, environment }
  const works: { [Each in BoardAction]: () => Promise<Outcomes[Each]> } = {
    list: () => surveyBoard(target, project),
    free: () => freeBoard(target, project, isForced),
    clean: () => cleanBoard(target, project),
  }
  try {
    return { board, targets, outcome: await works[action](), reason: null }
  } catch (error) {
    if (!(error instanceof BoardError) && !(error instanceof UsageError)) throw error
    return { board, targets, outcome: null, reason: error.message }
  }
}
