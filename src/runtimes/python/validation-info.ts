import { UsageError } from '../../domain/errors.ts'
import { ownFile } from '../../files/disk/own-files.ts'
import type { LaunchContext } from '../contract.ts'
import { findPython } from './find-python.ts'
import { PythonDied, PythonLines } from './python-lines.ts'

const SCRIPT = 'workers/python/validation_info.py'

export interface SavedSequence {
  /** The padded prompt and what was decoded after it. */
  readonly tokens: readonly number[]
  /** New tokens and vocabulary; null: only tokens were saved. */
  readonly logits: readonly [number, number] | null
}

export type SavedContent = { readonly sequences: readonly SavedSequence[] } | { readonly problem: string }

/** Folders as traces: of the reference, and of a side that was led along its tokens. */
export interface SavedReduction {
  readonly reference: string
  readonly output: string
  readonly follower?: string
  readonly followerOutput?: string
  readonly batch: number
  readonly promptLength: number
  readonly newTokens: number
  readonly eos: readonly number[]
  readonly topK: number
  readonly keep: 'top' | 'full'
}

/** A trace as a folder of aiu-fms-testing-utils. */
export interface SavingRequest {
  /** With all logits, of sequences that went on to the last step. */
  readonly trace: string
  /** Padded. */
  readonly prompts: readonly (readonly number[])[]
  readonly folder: string
  /** Whether a folder that is there may go where it holds something else. */
  readonly replace: boolean
}

/** Reads and writes tokens and logits as aiu-fms-testing-utils saves them with PyTorch, in a Python that has it. */
export class ValidationInfoFiles {
  readonly #context: LaunchContext
  readonly #limitMs: number
  #lines: PythonLines | null = null

  constructor(context: LaunchContext, limitMs: number) {
    this.#context = context
    this.#limitMs = limitMs
  }

  /** What lies in each of these folders. */
  async survey(folders: readonly string[]): Promise<SavedContent[]> {
    return (await this.#ask({ survey: folders })) as SavedContent[]
  }

  /** Writes traces; or says why that cannot be, as where no greedy decoder gave them. */
  async reduce(reduction: SavedReduction): Promise<string | null> {
    const { problem } = (await this.#ask(reduction)) as { readonly problem?: string }
    return problem ?? null
  }

  /** Writes a folder; or says why that cannot be. */
  async save(saving: SavingRequest): Promise<string | null> {
    const { problem } = (await this.#ask({ save: saving })) as { readonly problem?: string }
    return problem ?? null
  }

  async #ask(request: object): Promise<unknown> {
    const python = findPython('torch', this.#context)
    if (python.path === null) throw new UsageError('install', `${python.reason}; ${python.remedy}`)
    this.#lines ??= new PythonLines([python.path, ownFile(SCRIPT)], this.#limitMs)
    try {
      return await this.#lines.ask(request)
    } catch (error) {
      throw error instanceof PythonDied ? explained(error, python.remedy) : error
    }
  }
}

function explained(error: PythonDied, remedy: string): UsageError {
  const said = lastLine(error.stderr)
  const missing = /^ModuleNotFoundError: No module named '(\w+)/.exec(said)?.[1]
  if (missing) return new UsageError('install', `this Python has no ${missing}; ${remedy}`)
  const why = `${error.message}${said === '' ? '' : ` (${said})`}`
  return new UsageError('validation-info', `Python could not read or write saved tokens and logits: ${why}`, {
    cause: error,
  })
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}
