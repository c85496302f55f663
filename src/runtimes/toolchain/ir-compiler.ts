import { copyFile, lstat, mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import type { IrOptions, ModelRef } from '../contract.ts'
import { LastError } from '../worker/last-error.ts'
import { build, prepareBuild, type ToolchainOrder } from './build.ts'

interface CompiledIr {
  readonly key: string
  readonly folder: string
  /** A compiler that fails has often written the forms before the one that it failed at. */
  readonly failure: unknown
}

/** Compiles a model for its intermediate forms, once for all of them. */
export class IrCompiler {
  readonly #order: ToolchainOrder
  #last: CompiledIr | null = null

  constructor(order: ToolchainOrder) {
    this.#order = order
  }

  async writeIr(ref: ModelRef, { target, form, folder }: IrOptions): Promise<string | null> {
    const wanted = this.#order.toolchain.ir.find(({ name }) => name === form)
    if (!wanted) throw new Error(`there is no form "${form}"`)
    const { folder: built, failure } = await this.#compiled(ref, target)
    const path = join(built, 'ir', wanted.file)
    const isThere = await lstat(path).then(
      (found) => found.isFile(),
      () => false,
    )
    if (!isThere && failure) throw failure
    if (!isThere) return null
    await copyFile(path, join(folder, wanted.file))
    return wanted.file
  }

  async #compiled(ref: ModelRef, target: Target): Promise<CompiledIr> {
    const key = await keyOf(ref, target)
    if (this.#last?.key === key) return this.#last
    const folder = join(this.#order.scratch, 'forms')
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder)
    const failure = await this.#compile(ref, target, folder).then(() => null, withoutEnd)
    this.#last = { key, folder, failure }
    return this.#last
  }

  async #compile(ref: ModelRef, target: Target, folder: string): Promise<void> {
    const site = { folder, logs: folder }
    await build(this.#order, await prepareBuild(this.#order, ref, target, site), site)
  }
}

/** A compiler that is late for one form need not be awaited for each of the others, so this worker lives on. */
function withoutEnd(error: unknown): unknown {
  if (!(error instanceof LastError)) return error
  return new StageError(error.stage, error.message, { detail: error.detail, cause: error })
}

async function keyOf(ref: ModelRef, { options, files = {} }: Target): Promise<string> {
  if ('bytes' in ref) return computeDigest({ bytes: ref.bytes, folder: ref.folder, options, files })
  const { mtimeMs, size, ino } = await stat(ref.path)
  return computeDigest({ path: ref.path, mtimeMs, size, ino, options, files })
}
