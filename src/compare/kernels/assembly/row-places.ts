import { ROW_LEAD, ROW_RESULTS, ROW_RUN, ROWS } from '../logits-layout'

export const RUN_BYTES: i32 = ROW_RUN << 2
export const LEAD: i32 = ROW_LEAD << 2

export const REFERENCE: i32 = ROWS + LEAD

/** A result, for whoever called. */
@inline
export function put(place: i32, value: f64): void {
  store<f64>(ROW_RESULTS + (place << 3), value)
}

@inline
export function runsOf(size: i32): i32 {
  return (size + ROW_RUN - 1) / ROW_RUN
}

@inline
export function targetOf(runs: i32): i32 {
  return REFERENCE + runs * RUN_BYTES + LEAD
}
