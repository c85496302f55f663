import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { assay, assayJson, project, root } from '../support/assay.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'

const ARGS = ['converge', '-t', 'examples/training/convergence.yml', '-s', 'results']

/** Both examples, with the Python that has PyTorch. */
function trainingExample(): string {
  const folder = project()
  for (const name of ['training', 'decoders/shakespeare'])
    cpSync(join(root, 'examples', name), join(folder, 'examples', name), { recursive: true })
  const config = join(folder, 'examples/training/convergence.yml')
  const text = readFileSync(config, 'utf8')
  expect(text).toContain('executable: ["python3", "train.py"]')
  writeFileSync(config, text.replace('"python3"', JSON.stringify(TEST_PYTHON ?? 'python3')))
  return folder
}

describeWithPython('the PyTorch program of examples/training', 'torch', () => {
  let folder: string
  beforeAll(async () => {
    folder = trainingExample()
    const ran = await assay([...ARGS, '-g'], folder)
    expect(ran.code, ran.stdout + ran.stderr).toBe(0)
  }, 300_000)

  test('unchanged passes', async () => {
    expect((await assay([...ARGS, '--list'], folder)).stdout).toBe('shakespeare/ckpt_3\nshakespeare/ckpt_7\n')
    const report = await assayJson([...ARGS, '-k', 'ckpt_7'], folder)
    expect(report.results).toMatchObject([
      { id: 'shakespeare/ckpt_7', verdict: 'pass', coverage: { compared: 3, expected: 3 } },
    ])
  }, 300_000)

  test('with a learning rate that is 3 % off fails', async () => {
    const program = join(folder, 'examples/training/train.py')
    const text = readFileSync(program, 'utf8')
    expect(text).toContain('= learning_rate(')
    writeFileSync(program, text.replace('= learning_rate(', '= 1.03 * learning_rate('))
    const report = await assayJson([...ARGS, '-k', 'ckpt_3'], folder)
    expect(report.results).toMatchObject([{ id: 'shakespeare/ckpt_3', verdict: 'fail' }])
  }, 300_000)
})
