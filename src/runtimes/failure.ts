import type { FailureDetail } from '../domain/errors.ts'
import type { Stage } from '../domain/verdict.ts'

/** How a worker failed as a process; what a healthy worker answers is a RefusedRequest instead. */
export type FailureKind = 'start' | 'died' | 'memory' | 'timeout' | 'protocol' | 'aborted' | 'lost'

export class WorkerFailure extends Error {
  override readonly name = 'WorkerFailure'
  readonly kind: FailureKind
  readonly detail: FailureDetail
  constructor(kind: FailureKind, message: string, detail: FailureDetail = {}, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
    this.detail = detail
  }
}

/** A worker's error response: it goes on living. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
  readonly detail: FailureDetail
  /** Where it arose, as far as the worker knows better than the host. */
  readonly stage: Stage | null
  constructor(message: string, detail: FailureDetail = {}, stage: Stage | null = null) {
    super(message)
    this.detail = detail
    this.stage = stage
  }
}
