import { resolve } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { shellWord } from '../../domain/shell.ts'
import { tableLines } from '../../domain/table.ts'
import { cleanText, wrapText } from '../../domain/text.ts'
import { EXIT } from '../../domain/verdict.ts'
import { targetsHere } from '../../library/doctor/targets-here.ts'
import { CI_KINDS, readCi } from '../../library/init/ci-text.ts'
import { type ProjectChoices, type ProjectPlan, planProject, shownPath } from '../../library/init/plan-project.ts'
import { checkFolder, hasAssay, suggestedModels, usualCi } from '../../library/init/project-facts.ts'
import { refuseExisting, writeProject } from '../../library/init/write-project.ts'
import { resolveOptions } from '../../options/resolve.ts'
import type { Values } from '../../options/table.ts'
import type { Style } from '../../reporters/style.ts'
import { checkTargets, DEFAULT_TARGETS } from '../../suites/tensors/targets/chosen-targets.ts'
import { askOnTerminal, Declined, type Questions } from '../ask.ts'
import { INIT_OPTIONS } from '../command-options.ts'
import { type Action, type CommandIo, chooseStyle } from '../io.ts'

interface GivenChoices {
  readonly models: readonly string[] | undefined
  readonly targets: readonly string[] | undefined
  readonly ci: string | undefined
  readonly sample: boolean | undefined
}

export const init: Action = async (words, options, io) => {
  const { values } = resolveOptions(INIT_OPTIONS, { commandLine: options, environment: io.env, file: {} })
  const folder = resolve(io.cwd, words[0] ?? '.')
  checkFolder(folder)
  const { models, target, ci, sample } = values
  const given: GivenChoices = { models, targets: target, ci, sample }
  if (given.targets) checkTargets(given.targets, folder)
  if (given.ci !== undefined) readCi(given.ci)
  try {
    return await writeChosen(folder, given, values, io)
  } catch (error) {
    if (!(error instanceof Declined)) throw error
    io.stdout.write('\nnothing was written\n')
    return EXIT.interrupted
  }
}

async function writeChosen(
  folder: string,
  given: GivenChoices,
  { yes, force, color }: Values<typeof INIT_OPTIONS>,
  io: CommandIo,
): Promise<number> {
  const { stdin, stdout } = io
  const refuse = (plan: ProjectPlan) => force || refuseExisting(plan, (path) => shownPath(path, folder))
  const isAsked = stdin.isTTY && stdout.isTTY && !yes
  // Before the first question, because no answer could change it.
  if (isAsked) refuse(planProject(usualChoices(folder, { ...given, ci: 'none', sample: false })))
  const plan = planProject(isAsked ? await askedChoices(folder, given, io) : usualChoices(folder, given))
  refuse(plan)
  await writeProject(plan, force)
  stdout.write(`${summaryLines(plan, folder, io.cwd, chooseStyle(stdout, io, { color })).join('\n')}\n`)
  return EXIT.ok
}

function usualChoices(folder: string, { models, targets, ci, sample }: GivenChoices): ProjectChoices {
  return {
    folder,
    models: models ?? suggestedModels(folder),
    targets: targets ?? DEFAULT_TARGETS,
    ci: readCi(ci ?? usualCi(folder)),
    sample,
  }
}

/** Asks for everything that no flag has set. */
async function askedChoices(folder: string, given: GivenChoices, io: CommandIo): Promise<ProjectChoices> {
  const questions = askOnTerminal(io)
  try {
    const usual = usualChoices(folder, given)
    const models =
      given.models ??
      (await questions.ask('Where are your models? Files, folders or globs', usual.models.join(' '), (answer) => {
        const given = wordsOf(answer)
        planProject({ ...usual, models: given })
        return given
      }))
    const targets = given.targets ?? (await askTargets(questions, folder, io))
    const ci = given.ci ?? (await questions.ask(`CI file: ${CI_KINDS.join(', ')}?`, usual.ci, readCi))
    return { ...usual, models, targets, ci: readCi(ci) }
  } finally {
    questions.close()
  }
}

async function askTargets(questions: Questions, folder: string, io: CommandIo): Promise<readonly string[]> {
  io.stdout.write('looking for targets that run here …\n')
  const here = await targetsHere(folder, io.env)
  for (const line of wrapText(here.join(' '), 76)) io.stdout.write(`  ${line}\n`)
  return questions.ask(
    'Which of these do you want to test? Separate them with spaces',
    DEFAULT_TARGETS.join(' '),
    (answer) => {
      const given = wordsOf(answer)
      checkTargets(given, folder)
      return given
    },
  )
}

function wordsOf(answer: string): string[] {
  const words = answer.split(/\s+/).filter(Boolean)
  if (words.length === 0) throw new UsageError('answer', 'give at least one')
  return words
}

function summaryLines({ files, unread }: ProjectPlan, folder: string, cwd: string, style: Style): string[] {
  const sign = style.paint('green', style.ascii ? '+' : '✓')
  const rows = files.map(({ path, what }) => {
    return [`${sign} ${cleanText(shownPath(path, cwd), 200)}`, style.paint('dim', cleanText(what, 200))]
  })
  const passed = unread.map(
    (path) => `! ${cleanText(shownPath(path, cwd), 200)} is no longer read; the new configuration comes first`,
  )
  const place = shownPath(folder, cwd)
  const next = place === '.' ? 'npx assay run' : `cd ${shellWord(place)} && npx assay run`
  const types = hasAssay(folder)
    ? []
    : [style.paint('dim', 'npm install --save-dev assay gives your editor the types of the configuration')]
  return [...tableLines(rows), ...passed, '', `next: ${style.paint('bold', next)}`, ...types]
}
