import type { FailureDetail } from '../domain/errors.ts'

/** How a worker failed as a process; what a healthy worker answers is a RefusedRequest instead. */
export type FailureKind = 'start' | 'died' | 'memory' | 'timeout' | 'protocol' | 'aborted'

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
  constructor(message: string, detail: FailureDetail = {}) {
    super(message)
    this.detail = detail
  }
}
