import { join } from 'node:path'
import { parseArgs } from 'node:util'

const WORDS = {
  seed: { type: 'string', default: '1' },
  'noise-seed': { type: 'string', default: '0' },
  steps: { type: 'string', default: '200' },
  'batch-size': { type: 'string', default: '64' },
  dropout: { type: 'string', default: '0.1' },
  'checkpoint-dir': { type: 'string' },
  name: { type: 'string' },
  'save-every': { type: 'string', default: '20' },
  resume: { type: 'string' },
  'start-step': { type: 'string' },
  'run-until': { type: 'string' },
  'run-steps': { type: 'string' },
  log: { type: 'string', default: 'text' },
  'metrics-csv': { type: 'string' },
  quiet: { type: 'boolean', default: false },
  'learning-rate-factor': { type: 'string', default: '1' },
  'adam-bug': { type: 'string', default: 'none' },
  help: { type: 'boolean', default: false },
}

const HELP = `Trains a small network to tell the three arms of a spiral apart.

usage: node train.mjs [options]

  --seed N                  data, first weights and batches (1)
  --noise-seed N            dropout (0)
  --steps N                 steps of the whole training, which the learning rate is planned for (200)
  --batch-size N            points per step (64)
  --dropout P               part of the hidden values that is dropped (0.1)
  --checkpoint-dir FOLDER   save there: before the first step and every --save-every steps
  --name NAME               a folder below that one, for checkpoints of this training alone
  --save-every N            steps between two saves (20)
  --resume FILE             go on from a checkpoint
  --start-step N            the step to go on with; it must be the one after the checkpoint's last
  --run-until N             stop before step N (--steps)
  --run-steps N             stop after so many steps
  --log text|json           what is printed for each step (text)
  --metrics-csv FILE        write the same numbers there
  --quiet                   no line about the model at the start

faults, to see whether a test finds them:
  --learning-rate-factor F  multiply the learning rate (1)
  --adam-bug bias-correction   leave out Adam's bias correction

TRAIN_OPTIONS holds options too; those of the command line go over them.
`

/** Options that come from the environment, as a new library or driver does; the command line goes over them. */
export const wordsOf = (text = '') => text.split(/\s+/).filter((word) => word !== '')

/** Ends the program: what was asked for cannot be done. */
export function refuse(message) {
  process.stderr.write(`train.mjs: ${message}\n`)
  process.exit(2)
}

export function readOptions(argv) {
  const words = parse(argv)
  if (words.help) {
    process.stdout.write(HELP)
    process.exit(0)
  }
  const options = {
    seed: whole(words, 'seed', 0),
    noiseSeed: whole(words, 'noise-seed', 0),
    plannedSteps: whole(words, 'steps', 1),
    batchSize: whole(words, 'batch-size', 1),
    dropout: dropoutOf(words),
    folder: folderOf(words),
    saveEvery: whole(words, 'save-every', 1),
    resume: words.resume ?? null,
    startStep: optional(words, 'start-step', 0),
    runUntil: optional(words, 'run-until', 1),
    runSteps: optional(words, 'run-steps', 1),
    log: oneOf(words, 'log', ['text', 'json']),
    csv: words['metrics-csv'] ?? null,
    isQuiet: words.quiet,
    rateFactor: positive(words, 'learning-rate-factor'),
    adamBug: oneOf(words, 'adam-bug', ['none', 'bias-correction']),
  }
  if (options.runUntil !== null && options.runSteps !== null) refuse('--run-until and --run-steps exclude each other')
  return options
}

function parse(argv) {
  try {
    return parseArgs({ args: argv, options: WORDS, allowPositionals: false }).values
  } catch (error) {
    return refuse(`${error.message.split('. ')[0]}; --help lists all options`)
  }
}

function whole(words, name, least) {
  const text = words[name]
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > 0xffffffff)
    refuse(`--${name} must be a whole number from ${least} on, not ${JSON.stringify(text)}`)
  return value
}

const optional = (words, name, least) => (words[name] === undefined ? null : whole(words, name, least))

function positive(words, name) {
  const value = Number(words[name])
  if (!Number.isFinite(value) || value <= 0)
    refuse(`--${name} must be a number over 0, not ${JSON.stringify(words[name])}`)
  return value
}

function dropoutOf(words) {
  const value = Number(words.dropout)
  if (words.dropout === '' || !(value >= 0 && value < 1))
    refuse(`--dropout must be from 0 to less than 1, not ${JSON.stringify(words.dropout)}`)
  return value
}

function folderOf({ name, 'checkpoint-dir': folder }) {
  if (name !== undefined && !/^\w[\w.-]*$/.test(name))
    refuse(`--name must be letters and digits, not ${JSON.stringify(name)}`)
  return folder === undefined ? null : join(folder, name ?? '')
}

function oneOf(words, name, values) {
  if (!values.includes(words[name]))
    refuse(`--${name} must be ${values.join(' or ')}, not ${JSON.stringify(words[name])}`)
  return words[name]
}
