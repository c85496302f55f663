import { StageError } from '../../domain/errors.ts'

/** An error after which the host ends this worker with all that it started. */
export class LastError extends StageError {}
