import { normalNumbers, randomNumbers } from './random.mjs'
import { CLASSES } from './spirals.mjs'

const SIZES = [2, 32, 32, CLASSES]
const PENALTY = 1e-3
const WEIGHTS = 3
const DROPOUT = 4

/** Where weights and biases of each layer lie in the one array of all parameters. */
const LAYERS = layOut()
export const PARAMETERS = LAYERS.at(-1).end

function layOut() {
  let end = 0
  return SIZES.slice(1).map((outputs, i) => {
    const weights = end
    const biases = weights + SIZES[i] * outputs
    end = biases + outputs
    return { inputs: SIZES[i], outputs, weights, biases, end, isLast: i === SIZES.length - 2 }
  })
}

export function firstParameters(seed) {
  const normal = normalNumbers(seed, WEIGHTS)
  const parameters = new Float64Array(PARAMETERS)
  for (const { inputs, weights, biases } of LAYERS)
    for (let i = weights; i < biases; i++) parameters[i] = normal() * Math.sqrt(2 / inputs)
  return parameters
}

/** What drops out of the hidden layers at a step, as factors; from the noise seed and the step's number alone. */
export function drawDropout(rate, rows, noiseSeed, step) {
  const random = randomNumbers(noiseSeed, DROPOUT, step)
  const kept = 1 / (1 - rate)
  return SIZES.slice(1, -1).map((size) =>
    Float64Array.from({ length: rows * size }, () => (random() < rate ? 0 : kept)),
  )
}

/** Mean cross-entropy of a batch, the penalty on large weights, and the gradient of their sum. */
export function lossAndGradient(parameters, batch, dropout) {
  const activations = forward(parameters, batch.points, dropout)
  const { loss, errors } = crossEntropy(activations.at(-1), batch.labels)
  const gradient = backward(parameters, activations, errors, dropout)
  let penalty = 0
  for (const { weights, biases } of LAYERS)
    for (let i = weights; i < biases; i++) {
      penalty += 0.5 * PENALTY * parameters[i] ** 2
      gradient[i] += PENALTY * parameters[i]
    }
  return { loss, penalty, gradient }
}

/** The part of the points that is put into the right class, without dropout. */
export function accuracyOf(parameters, { points, labels }) {
  const logits = forward(parameters, points, null).at(-1) // (rows, classes)
  let right = 0
  for (let row = 0; row < labels.length; row++) {
    const scores = logits.subarray(row * CLASSES, (row + 1) * CLASSES)
    if (scores.indexOf(Math.max(...scores)) === labels[row]) right++
  }
  return right / labels.length
}

/** The input of each layer, and last the logits. */
function forward(parameters, points, dropout) {
  const activations = [points]
  LAYERS.forEach((layer, i) => {
    const outputs = affine(parameters, layer, activations[i])
    if (!layer.isLast)
      for (let j = 0; j < outputs.length; j++)
        outputs[j] = outputs[j] > 0 ? outputs[j] * (dropout === null ? 1 : dropout[i][j]) : 0
    activations.push(outputs)
  })
  return activations
}

function affine(parameters, { inputs, outputs, weights, biases }, x) {
  const rows = x.length / inputs
  const y = new Float64Array(rows * outputs) // (rows, outputs)
  for (let row = 0; row < rows; row++)
    for (let o = 0; o < outputs; o++) {
      let sum = parameters[biases + o]
      for (let i = 0; i < inputs; i++) sum += x[row * inputs + i] * parameters[weights + i * outputs + o]
      y[row * outputs + o] = sum
    }
  return y
}

function crossEntropy(logits, labels) {
  const rows = labels.length
  const errors = new Float64Array(logits.length) // d loss / d logits
  let loss = 0
  for (let row = 0; row < rows; row++) {
    const scores = logits.subarray(row * CLASSES, (row + 1) * CLASSES)
    const largest = Math.max(...scores)
    const powers = scores.map((score) => Math.exp(score - largest))
    const total = powers.reduce((sum, power) => sum + power, 0)
    loss += (Math.log(total) + largest - scores[labels[row]]) / rows
    for (let c = 0; c < CLASSES; c++)
      errors[row * CLASSES + c] = (powers[c] / total - (c === labels[row] ? 1 : 0)) / rows
  }
  return { loss, errors }
}

function backward(parameters, activations, lastErrors, dropout) {
  const gradient = new Float64Array(PARAMETERS)
  let errors = lastErrors
  for (let i = LAYERS.length - 1; i >= 0; i--) {
    const before = backThrough(parameters, LAYERS[i], activations[i], errors, gradient)
    if (i > 0) for (let j = 0; j < before.length; j++) before[j] *= activations[i][j] > 0 ? dropout[i - 1][j] : 0
    errors = before
  }
  return gradient
}

/** Adds to the gradient of one layer; gives the errors of its inputs. */
function backThrough(parameters, { inputs, outputs, weights, biases }, x, errors, gradient) {
  const before = new Float64Array(x.length)
  for (let row = 0; row < x.length / inputs; row++)
    for (let o = 0; o < outputs; o++) {
      const error = errors[row * outputs + o]
      gradient[biases + o] += error
      for (let i = 0; i < inputs; i++) {
        const weight = weights + i * outputs + o
        gradient[weight] += x[row * inputs + i] * error
        before[row * inputs + i] += parameters[weight] * error
      }
    }
  return before
}
