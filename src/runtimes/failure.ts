import type { FailureDetail } from '../domain/errors.ts'
import type { Stage } from '../domain/verdict.ts'

/** A failure of the worker process itself; an error answered by a healthy worker is a RefusedRequest. */
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

/** A worker's error response; the worker lives on. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
  readonly detail: FailureDetail
  /** The stage, if the worker knows better than the host. */
  readonly stage: Stage | null
  constructor(message: string, detail: FailureDetail = {}, stage: Stage | null = null) {
    super(message)
    this.detail = detail
    this.stage = stage
  }
}
