import type { CaseNotes } from '../../../domain/case-notes.ts'
import { FormatError, SkipCase, StageError, UsageError } from '../../../domain/errors.ts'
import { cleanProse, cleanText } from '../../../domain/text.ts'
import type { OwnedFolder } from '../../../files/disk/owned-folder.ts'
import type { Case, Judgement, Lab, Suite } from '../../../runs/contract.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'
import type { ModelUnderTest } from '../model-under-test.ts'
import type { OnnxCase, OnnxSuite } from '../suite.ts'
import { type IrSummary, listIr } from './ir.ts'
import { IrFolder } from './ir-folder.ts'

const INDEX = 'index.txt'

/** Writes the forms that the target of every case makes of its model. Does not affect verdicts. */
export class IrDump {
  readonly #folder: string
  /** What could not be written, in words. */
  readonly problems: string[] = []
  /** What targets cannot give, in words. */
  readonly notices = new Set<string>()
  /** Ids as they were collected. */
  readonly #order: string[] = []
  readonly #dumped = new Map<string, IrSummary>()
  readonly #owned: OwnedFolder
  readonly #pool: Pool

  private constructor(owned: OwnedFolder, pool: Pool) {
    this.#folder = owned.shown
    this.#owned = owned
    this.#pool = pool
  }

  static async begin(owned: OwnedFolder, pool: Pool): Promise<IrDump> {
    await owned.write(INDEX, 'The model of every case, in each form that its target made.\n')
    return new IrDump(owned, pool)
  }

  /** Cases in the order of the plan. */
  get notes(): CaseNotes {
    const cases = this.#order.flatMap((id) => {
      const summary = this.#dumped.get(id)
      return summary ? { id, ...summary } : []
    })
    const title = `intermediate forms of ${cases.length} ${cases.length === 1 ? 'case' : 'cases'}: ${this.#folder}`
    const index = `${this.#folder}/${INDEX}`
    return { title, index, cases, notices: [...this.notices], problems: this.problems }
  }

  /** Wraps a suite so that the forms of each case are written when it ends, whatever its verdict. */
  after(suite: OnnxSuite): Suite<OnnxCase> {
    return {
      name: suite.name,
      collect: () => this.#remembered(suite.collect()),
      judge: async (c, lab): Promise<Judgement> => {
        try {
          return await suite.judge(c, lab)
        } finally {
          await this.#take(c, lab, suite)
        }
      },
    }
  }

  async *#remembered(cases: AsyncIterable<OnnxCase>): AsyncIterable<OnnxCase> {
    for await (const c of cases) {
      this.#order.push(c.id)
      yield c
    }
  }

  async #take(c: OnnxCase, lab: Lab, suite: OnnxSuite): Promise<void> {
    try {
      const given = await suite.underTest(c, lab).catch(expectedFailure)
      if (given instanceof Error) return await this.#list(c, null, nothingToShow(given))
      const name = await this.#owned.folderFor(c.id)
      await this.#list(c, name, await this.#dump(given, lab, new IrFolder(this.#owned, name, c.id)))
    } catch (error) {
      if (lab.signal.aborted) return
      this.problems.push(`the forms of ${c.id} are incomplete: ${wordsOf(error)}`)
    }
  }

  async #list(c: Case, folder: string | null, summary: IrSummary): Promise<void> {
    this.#dumped.set(c.id, summary)
    const lines = [
      '',
      cleanText(c.id),
      ...(folder === null ? [] : [`  ${folder}/`]),
      ...summary.lines.map((line) => `  ${line}`),
    ]
    await this.#owned.append(INDEX, `${lines.join('\n')}\n`)
  }

  async #dump({ target, model }: ModelUnderTest, lab: Lab, folder: IrFolder): Promise<IrSummary> {
    await folder.writeGiven(model)
    const { forms, reason } = await listIr(this.#pool, target)
    if (reason !== null) await this.#notice(reason)
    for (const form of forms) {
      lab.signal.throwIfAborted()
      await folder.writeIr(form, (makeFolder, weights, ref) =>
        this.#pool.writeIr({ target, side: 'target', signal: lab.signal, form, weights, model: ref, makeFolder }),
      )
    }
    return folder.finish(reason)
  }

  async #notice(text: string): Promise<void> {
    if (this.notices.has(text)) return
    this.notices.add(text)
    await this.#owned.append(INDEX, `\n${cleanProse(text)}\n`)
  }
}

/** A model that cannot be read, a layer that cannot be cut out: the case says so too. */
function expectedFailure(error: unknown): Error {
  if (error instanceof FormatError || error instanceof StageError || error instanceof SkipCase) return error
  throw error
}

function nothingToShow(error: Error): IrSummary {
  const lines = [`there is no model to show: ${cleanProse(error.message)}`]
  return { lines, isNotable: !(error instanceof SkipCase) }
}

function wordsOf(error: unknown): string {
  if (error instanceof UsageError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
