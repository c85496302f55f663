/** P(X > k) of the standard normal distribution, for k ≥ 0. */
export function normalTail(k: number): number {
  const density = Math.exp((-k * k) / 2) / Math.sqrt(2 * Math.PI)
  return k < 3 ? 0.5 - density * series(k) : density * fraction(k)
}

/** k + k³/3 + k⁵/15 + … */
function series(k: number): number {
  let term = k
  let sum = k
  for (let odd = 3; term > sum * 1e-17; odd += 2) {
    term *= (k * k) / odd
    sum += term
  }
  return sum
}

/** 1/(k + 1/(k + 2/(k + 3/(k + …)))) */
function fraction(k: number): number {
  let below = k
  for (let i = 100; i > 0; i--) below = k + i / below
  return 1 / below
}
