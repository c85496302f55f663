const WHOLE = /^\s*\+?\d+\s*$/

/** Zero-padded numbers are fine, commas and fractions are not. */
export function stepNumber(text: string): number | null {
  const step = WHOLE.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(step) ? step : null
}
