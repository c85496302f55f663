const BETA1 = 0.9
const BETA2 = 0.999
const EPSILON = 1e-8
const PEAK_RATE = 0.02
const LAST_RATE = 0.002
const WARM_UP_STEPS = 20

/** Rises over the first steps and falls along a cosine until the last of the planned ones. */
export function learningRate(step, plannedSteps) {
  if (step < WARM_UP_STEPS) return (PEAK_RATE * (step + 1)) / WARM_UP_STEPS
  const progress = Math.min(1, (step - WARM_UP_STEPS) / Math.max(1, plannedSteps - WARM_UP_STEPS))
  return LAST_RATE + 0.5 * (PEAK_RATE - LAST_RATE) * (1 + Math.cos(Math.PI * progress))
}

/** One update of parameters and both moments, in place. `isCorrected: false` is a bug to be found. */
export function updateWithAdam({ parameters, first, second }, gradient, { step, rate, isCorrected }) {
  const firstShare = isCorrected ? 1 - BETA1 ** (step + 1) : 1
  const secondShare = isCorrected ? 1 - BETA2 ** (step + 1) : 1
  for (let i = 0; i < parameters.length; i++) {
    first[i] = BETA1 * first[i] + (1 - BETA1) * gradient[i]
    second[i] = BETA2 * second[i] + (1 - BETA2) * gradient[i] ** 2
    parameters[i] -= (rate * (first[i] / firstShare)) / (Math.sqrt(second[i] / secondShare) + EPSILON)
  }
}
