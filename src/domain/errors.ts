import type { Side, Stage } from './verdict.ts'

/** An error the user can fix: says what was found, what was expected and what to do. Printed without a stack. */
export class UsageError extends Error {
  readonly code: string
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UsageError'
    this.code = code
  }
}

export interface FailureDetail {
  readonly tool?: string
  readonly argv?: readonly string[]
  readonly exitCode?: number
  readonly signal?: string
  /** The tail of what the tool printed. */
  readonly stderr?: string
}

/** A case could not be judged; becomes the verdict `error` with this stage. */
export class StageError extends Error {
  readonly stage: Stage
  readonly side: Side | undefined
  readonly detail: FailureDetail
  constructor(stage: Stage, message: string, options: ErrorOptions & { side?: Side; detail?: FailureDetail } = {}) {
    super(message, options)
    this.name = 'StageError'
    this.stage = stage
    this.side = options.side
    this.detail = options.detail ?? {}
  }
}

/** A case cannot be expressed on a target; becomes the verdict `skip` with this reason. */
export class SkipCase extends Error {
  readonly flags: readonly string[]
  constructor(reason: string, flags: readonly string[] = []) {
    super(reason)
    this.flags = flags
    this.name = 'SkipCase'
  }
}

/** A file is not what it claims to be: hostile, truncated or of another type. */
export class FormatError extends Error {
  readonly code: string
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'FormatError'
    this.code = code
  }
}
