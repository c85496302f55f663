// Trains a small network on data that it makes itself, and goes on from a checkpoint bit for bit as if it had not stopped.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { learningRate, updateWithAdam } from './adam.mjs'
import { loadCheckpoint, saveCheckpoint } from './checkpoint.mjs'
import { openLog } from './log.mjs'
import { accuracyOf, drawDropout, firstParameters, lossAndGradient, PARAMETERS } from './network.mjs'
import { readOptions, refuse, wordsOf } from './options.mjs'
import { drawBatch, makeSpirals } from './spirals.mjs'

const options = readOptions([...wordsOf(process.env.TRAIN_OPTIONS), ...process.argv.slice(2)])
const { state, firstStep } = options.resume === null ? begin() : goOn()
const endStep = lastStepOf()
const spirals = makeSpirals(options.seed)
makeFolder()
const log = openLog(options)

if (!options.isQuiet)
  log.say(`${PARAMETERS} parameters, ${spirals.labels.length} points, steps ${firstStep} to ${endStep - 1}`)
if (options.resume === null) save('initial', 0)
for (let step = firstStep; step < endStep; step++) {
  log.step(step, trainStep(step))
  if ((step + 1) % options.saveEvery === 0) save(`step_${step}`, step + 1)
}
log.close()

function begin() {
  if (options.startStep)
    refuse(`--start-step ${options.startStep} needs --resume: a training without a checkpoint begins with step 0`)
  const zeros = () => new Float64Array(PARAMETERS)
  return { state: { parameters: firstParameters(options.seed), first: zeros(), second: zeros() }, firstStep: 0 }
}

function goOn() {
  const { state, nextStep, seed } = loadCheckpoint(options.resume)
  if (seed !== options.seed) refuse(`${options.resume} was trained with --seed ${seed}, not ${options.seed}`)
  const asked = options.startStep ?? nextStep
  if (asked !== nextStep) refuse(`${options.resume} goes on with step ${nextStep}, not with --start-step ${asked}`)
  return { state, firstStep: nextStep }
}

/** The one to stop before. */
function lastStepOf() {
  const asked = options.runSteps === null ? options.runUntil : firstStep + options.runSteps
  const end = Math.min(asked ?? options.plannedSteps, options.plannedSteps)
  if (end <= firstStep) refuse(`nothing to do: it would go on with step ${firstStep} and stop before step ${end}`)
  return end
}

/** Loss of the step's batch before the update, accuracy on all points after it. */
function trainStep(step) {
  const batch = drawBatch(spirals, options.batchSize, options.seed, step)
  const dropout = drawDropout(options.dropout, options.batchSize, options.noiseSeed, step)
  const { loss, penalty, gradient } = lossAndGradient(state.parameters, batch, dropout)
  const rate = options.rateFactor * learningRate(step, options.plannedSteps)
  updateWithAdam(state, gradient, { step, rate, isCorrected: options.adamBug !== 'bias-correction' })
  return { loss, penalty, accuracy: accuracyOf(state.parameters, spirals) }
}

function makeFolder() {
  try {
    if (options.folder !== null) mkdirSync(options.folder, { recursive: true })
  } catch (error) {
    refuse(`checkpoints cannot be written: ${error.message}`)
  }
}

function save(name, nextStep) {
  if (options.folder === null) return
  const path = join(options.folder, `${name}.ckpt`)
  saveCheckpoint(path, state, { nextStep, seed: options.seed })
  log.saved(path)
}
