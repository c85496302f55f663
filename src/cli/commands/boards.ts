import { UsageError } from '../../domain/errors.ts'
import { nearest, unknown } from '../../domain/suggest.ts'
import { EXIT } from '../../domain/verdict.ts'
import { cleanFinding, freeFinding, listFinding } from '../../library/boards/board-findings.ts'
import { type ChosenBoard, chosenBoards } from '../../library/boards/chosen-boards.ts'
import { type BoardOutcome, type BoardsRequest, workOnBoards } from '../../library/boards/work-on-boards.ts'
import { chosenConfig } from '../../library/config/config-file.ts'
import { resolveOptions } from '../../options/resolve.ts'
import { type Finding, findingLines } from '../../reporters/finding-lines.ts'
import { inertJson } from '../../reporters/json.ts'
import { BOARDS_OPTIONS } from '../command-options.ts'
import { type Action as Command, chooseStyle, complain } from '../io.ts'

const ACTIONS = ['list', 'free', 'clean'] as const
type Action = (typeof ACTIONS)[number]

const NAME_WIDTH = 24

export const boards: Command = async (words, options, io) => {
  const { config } = await chosenConfig(options, io.env, io.cwd)
  const sources = { commandLine: options, environment: io.env, file: config }
  const { board, force, json } = resolveOptions(BOARDS_OPTIONS, sources).values
  const { action, names } = readWords(words)
  if (force && action !== 'free') throw new UsageError('option', '--force is only for assay boards free')
  const chosen = chosenBoards(names, config, board)
  if (action !== 'list' && chosen.length !== 1) throw oneBoard(action, chosen)
  if (chosen.length === 0) {
    complain(io, 'the configuration has no ssh targets; name a board, as in assay boards root@10.0.0.7')
    return EXIT.nothing
  }
  const { findings, outcomes, isDone } = await act(action, {
    boards: chosen,
    cwd: io.cwd,
    environment: io.env,
    isForced: force,
  })
  const style = chooseStyle(io.stdout, io, options)
  const text = json
    ? inertJson({ schema: 'assay/boards@1', action, boards: outcomes }, 2)
    : findings.flatMap((finding) => findingLines(finding, NAME_WIDTH, style)).join('\n')
  io.stdout.write(`${text}\n`)
  return isDone ? EXIT.ok : EXIT.failed
}

/** The first word may be an action. */
function readWords(words: readonly string[]): { action: Action; names: readonly string[] } {
  const [first = 'list', ...rest] = words
  const action = ACTIONS.find((known) => known === first)
  if (action) return { action, names: rest }
  const isWord = /^\w+$/.test(first)
  if (isWord && nearest(first, ACTIONS)) throw unknown('action', `action "${first}" of assay boards`, first, ACTIONS)
  return { action: 'list', names: words }
}

function oneBoard(action: Action, chosen: readonly ChosenBoard[]): UsageError {
  const found = chosen.length === 0 ? 'none is named' : `found ${chosen.map(({ board }) => board).join(' and ')}`
  return new UsageError(
    'board',
    `assay boards ${action} takes one board, as in assay boards ${action} root@10.0.0.7; ${found}`,
  )
}

interface Done {
  readonly findings: readonly Finding[]
  readonly outcomes: readonly BoardOutcome[]
  readonly isDone: boolean
}

async function act(action: Action, request: BoardsRequest): Promise<Done> {
  if (action === 'list') {
    const outcomes = await workOnBoards('list', request)
    return { findings: outcomes.map(listFinding), outcomes, isDone: outcomes.every(({ outcome }) => outcome !== null) }
  }
  if (action === 'free') {
    const outcomes = await workOnBoards('free', request)
    const isDone = outcomes.every(({ outcome }) => outcome?.isRefused === false)
    return { findings: outcomes.map(freeFinding), outcomes, isDone }
  }
  const outcomes = await workOnBoards('clean', request)
  const isDone = outcomes.every(({ outcome }) => outcome?.isRefused === false)
  return { findings: outcomes.map(cleanFinding), outcomes, isDone }
}
