import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { DOCUMENTED_CONFIG } from '../../src/suites/convergence/config/testing/documented-config.ts'
import { assay, assayJson, project } from '../support/assay.ts'
import { describeWith } from '../support/needs.ts'
import { hasPython } from '../support/python.ts'

/** One weight, trained with the options and log lines of the documented configuration; it begins with the step it is told. */
const PROGRAM = `
import argparse, json, os, sys
parser = argparse.ArgumentParser()
for name in ['--checkpoint-dir', '--onnx-checkpoint', '--config', '--engine-cache']:
    parser.add_argument(name)
for name in ['--epochs-per-save', '--epochs', '--steps-per-log', '--continue-training-from-epoch']:
    parser.add_argument(name, type=int)
args = parser.parse_args()
weight = json.load(open(args.onnx_checkpoint)) if args.onnx_checkpoint else 0.0
start = args.continue_training_from_epoch or 0
is_count = args.onnx_checkpoint and os.environ.get('READING') == 'count'
rate = 0.1 * float(os.environ.get('RATE', 1))

def save(name):
    # The documented pattern ends at a space, which the folder above may have.
    path = os.path.relpath(os.path.join(args.checkpoint_dir, name))
    json.dump(weight, open(path, 'w'))
    print('Saving model to:', path, file=sys.stderr)

if args.checkpoint_dir:
    save('model_0')
for step in range(start, start + args.epochs if is_count else args.epochs):
    target = 3 + step * 7 % 5 / 10
    loss = (weight - target) ** 2
    weight -= rate * (weight - target)
    print(f'Iteration: {step} Loss (MLM NSP): {loss:.4f} {loss / 2:.4f} '
          f'Accuracy (MLM NSP): {1 / (1 + loss):.4f} {1 / (2 + loss):.4f}', file=sys.stderr)
    if args.checkpoint_dir and (step + 1) % args.epochs_per_save == 0:
        save(f'model_{step}:{step + 1}')
`

const COMMAND = ['converge', '-t', 'demo_config.yml', '-s', 'results']
const REPLAY = [...COMMAND, '--pattern', '^bert/ckpt_[49]$']

describeWith('python', hasPython, "the documentation's own YAML, word for word", () => {
  let gathered: string
  const documented = () => project({ 'demo_config.yml': DOCUMENTED_CONFIG, 'applications/bert/myapp.py': PROGRAM })
  beforeAll(async () => {
    gathered = documented()
    const { code, stdout, stderr } = await assay([...COMMAND, '-g'], gathered)
    expect(code, stdout + stderr).toBe(0)
  })

  function copy(): string {
    const folder = documented()
    cpSync(join(gathered, 'results'), join(folder, 'results'), { recursive: true })
    return folder
  }

  test.each(['end', 'count'])('judges a program that reads --epochs as %s, and says what it did', async (READING) => {
    const folder = copy()
    const first = await assay(REPLAY, folder, { READING })
    expect(first.code, first.stdout + first.stderr).toBe(0)
    expect(first.stderr).toBe(
      'bert: started as documented, the program repeats the last step of its checkpoint; windows are replayed again, one step later; results/bert_convergence_harness_manifest.assay.json remembers this\n',
    )
    expect(first.stdout).toMatch(/2 passed/)
    const again = await assayJson(REPLAY, folder, { READING })
    expect(again.results.map(({ id, verdict, flags, coverage }) => [id, verdict, flags, coverage.compared])).toEqual([
      ['bert/ckpt_4', 'pass', [], 3],
      ['bert/ckpt_9', 'pass', [], 3],
    ])
    const faulty = await assayJson(REPLAY, copy(), { READING, RATE: '0.2' })
    expect(faulty.results.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      'bert/ckpt_4 fail',
      'bert/ckpt_9 fail',
    ])
  })
})
