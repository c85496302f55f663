import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { FileDigests } from '../../src/files/disk/digest.ts'
import { loadTokenizer } from '../../src/models/hugging-face/tokenizer/load-tokenizer.ts'
import { openPrompts } from '../../src/models/prompts/open-prompts.ts'
import { padLeft } from '../../src/models/prompts/pad.ts'
import { ValidationInfoFiles } from '../../src/runtimes/python/validation-info.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'

const PYTHON = TEST_PYTHON ?? 'python3'
const SHAPE = ['--batch-size', '2', '--prompt-length', '32', '--max-new-tokens', '4', '--tokens-per-sequence', '8']
const NAME = 'tiny_max-new-tokens-4_batch-size-2_seq-length-32_dtype-bf16'
const TEST = ['decoders', 'test', 'tiny', ...SHAPE, '--target', 'ort:cpu,optimization=disabled']
const SAVED = [...TEST, '--validation-info-dir', 'saved']
const env = { ASSAY_PYTHON: PYTHON }

/** Two batches of the prompts that a test of this shape takes, decoded by transformers. */
async function saveInfo(folder: string): Promise<void> {
  const tokenizer = await loadTokenizer(join(folder, 'tiny'))
  const prompts = await openPrompts(null, tokenizer, {
    cacheFolder: join(folder, '.cache'),
    digests: new FileDigests(),
  })
  const batches = []
  for (const draw of [0, 1]) {
    const drawn = await prompts.draw({ promptLength: 32, batchSize: 2, seed: 0, draw })
    batches.push(
      padLeft(
        drawn.prompts.map(({ ids }) => ids),
        32,
      ),
    )
  }
  const input = JSON.stringify({ folder: join(folder, 'tiny'), prefix: join(folder, 'saved', NAME), batches, steps: 4 })
  const ran = spawnSync(PYTHON, [join(root, 'test/workers/save-validation-info.py')], { input, encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(ran.stderr)
}

function python(code: string, ...words: string[]): void {
  const ran = spawnSync(PYTHON, ['-c', code, ...words], { encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(ran.stderr)
}

describeWithPython('what aiu-fms-testing-utils saved', 'torch, transformers, safetensors', () => {
  let made: string

  beforeAll(async () => {
    made = project()
    const ran = await assay(['micro', 'llama', '--hidden', '32', '-o', 'tiny'], made)
    expect(ran.code, ran.stderr).toBe(0)
    await saveInfo(made)
  }, 180_000)

  /** A copy, because some tests break what lies there. */
  function copied(): string {
    const folder = project()
    for (const name of ['tiny', 'saved']) cpSync(join(made, name), join(folder, name), { recursive: true })
    return folder
  }

  test('stands for the reference, which does not decode', async () => {
    const folder = copied()
    const { results, stderr } = await assayJson(SAVED, folder, env)
    expect(results[0], stderr).toMatchObject({ verdict: 'pass', coverage: { compared: 15, expected: 15 } })
    expect(stderr).toContain(`${NAME}.cpu_validation_info.0.out is used for the reference of tiny`)
    expect(stderr).toContain(`${NAME}.cpu_validation_info.1.out is used for the reference of tiny`)
    const { measurements } = results[0]!
    expect(measurements['reference.imported']).toMatch(/^2 of 2 batches, .*cpu_validation_info\.0\.out$/)
    expect(Object.keys(measurements).filter((key) => /^reference\.(version|ms_per_step)$/.test(key))).toEqual([])
    expect(results[0]!.metrics.find(({ name }) => name === 'kl_p99')!.value).toBeLessThan(1e-9)
  })

  test('is refused where it does not belong, with the field that differs', async () => {
    const folder = copied()
    const { stderr } = await assay([...SAVED, '--seed', '5'], folder, env)
    expect(stderr).toMatch(
      /cpu_validation_info\.0\.out is not used: its prompts are different \(sequence 0, token \d+: \d+ instead of \d+\)/,
    )
  })

  test('a pickle that would run code is refused, and the reference decodes', async () => {
    const folder = copied()
    const mark = join(folder, 'ran')
    const hostile = `
import os, sys, torch
class Code:
    def __reduce__(self): return (os.mkdir, (sys.argv[2],))
torch.save({"tokens": Code(), "logits": torch.zeros(4, 512)}, sys.argv[1])`
    python(hostile, join(folder, 'saved', `${NAME}.cpu_validation_info.0.out/0.pt`), mark)
    const { results, stderr } = await assayJson(SAVED, folder, env)
    expect(stderr).toContain(
      'cpu_validation_info.0.out is not used: 0.pt asks for posix.mkdir to be called, which can run any code',
    )
    expect(results[0]).toMatchObject({ verdict: 'pass' })
    expect(results[0]!.measurements['reference.imported']).toMatch(/^1 of 2 batches/)
    expect(readdirSync(folder)).not.toContain('ran')
  })

  test('tokens that no greedy decoder gives, tokens alone and torn files are refused', async () => {
    const folder = copied()
    const change = `
import shutil, sys, torch
for how in ("other", "tokens", "torn"):
    folder = sys.argv[1] + "-" + how
    shutil.copytree(sys.argv[1], folder)
    saved = torch.load(folder + "/1.pt", weights_only=True)
    if how == "other": saved["tokens"][33] = (saved["tokens"][33] + 1) % 512
    torch.save(saved["tokens"] if how == "tokens" else saved, folder + "/1.pt")
    if how == "torn": open(folder + "/1.pt", "r+b").truncate(900)`
    const saved = join(folder, 'saved', `${NAME}.cpu_validation_info.0.out`)
    const context = {
      environment: process.env,
      projectFolder: folder,
      runtimesFolder: folder,
      python: PYTHON,
      notice: () => {},
    }
    const reader = new ValidationInfoFiles(context, 60_000)
    const sizes = { batch: 2, promptLength: 32, newTokens: 4, eos: [], topK: 20, keep: 'top' } as const
    const reduced = (how: string) =>
      reader.reduce({ ...sizes, reference: `${saved}${how}`, output: join(folder, 'trace') })
    python(change, saved)
    expect(await reduced('')).toBeNull()
    expect(await reduced('-other')).toMatch(/^1\.pt: token \d+ at step 1 has not the largest logit/)
    expect(await reader.survey([`${saved}-tokens`, `${saved}-torn`])).toEqual([
      { sequences: [expect.objectContaining({ logits: [4, 512] }), expect.objectContaining({ logits: null })] },
      { problem: expect.stringContaining('1.pt is not what torch.save writes') },
    ])
  })

  test('metric files come from pairs of devices without a model that runs', async () => {
    const folder = copied()
    rmSync(join(folder, 'tiny/model.safetensors'))
    rmSync(join(folder, 'tiny/onnx'), { recursive: true })
    const words = ['decoders', 'baseline', '--model_path=tiny', ...SHAPE, '--skip_computation', '--output_dir=saved']
    const ran = await assayJson(words, folder, env)
    expect(ran.results, ran.stderr).toMatchObject([{ id: 'tiny/b2/s32/n4@cuda', verdict: 'captured' }])
    expect(ran.results[0]!.reproduce).toContain('tiny')
    expect(ran.results[0]!.reproduce).toContain('--skip-computation')
    for (const metric of ['ce', 'diff_mean', 'prob_mean', 'prob_std']) {
      const lines = readFileSync(join(folder, 'saved', `${NAME}.${metric}.csv`), 'utf8')
        .trimEnd()
        .split('\n')
      expect([lines[0], lines.length]).toEqual([metric, 16])
      expect(lines.slice(1).every((line) => Number.isFinite(Number(line)) && Number(line) !== 0)).toBe(true)
    }
    mkdirSync(join(folder, 'tokenizer'))
    for (const name of ['tokenizer.json', 'tokenizer_config.json'])
      renameSync(join(folder, 'tiny', name), join(folder, 'tokenizer', name))
    rmSync(join(folder, 'tiny'), { recursive: true })
    const alone = await assayJson(
      [...words, '--tokenizer', 'tokenizer', '--output_dir=alone', '--validation-info-dir', 'saved'],
      folder,
      env,
    )
    expect(alone.results, alone.stderr).toMatchObject([{ id: 'tiny/b2/s32/n4@cuda', verdict: 'captured' }])
    const metric = (place: string) => readFileSync(join(folder, place, `${NAME}.ce.csv`), 'utf8')
    expect(metric('alone')).toBe(metric('saved'))
  })
})

const METRICS = ['ce', 'diff_mean', 'prob_mean', 'prob_std']

/** Loads with torch alone, as aiu-fms-testing-utils does; gives how far logits are from those that transformers gave. */
const CHECK = `
import json, os, sys, torch
def compare(ours, theirs):
    assert sorted(os.listdir(ours)) == sorted(os.listdir(theirs)) == ["0.pt", "1.pt"]
    return max(distance(*(torch.load(os.path.join(f, name)) for f in (ours, theirs))) for name in os.listdir(ours))
def distance(a, b):
    assert type(a) is dict and list(a) == list(b) == ["tokens", "logits"], list(a)
    for x, y in zip(a.values(), b.values()):
        assert type(x) is torch.Tensor and (x.dtype, x.shape) == (y.dtype, y.shape), (x.dtype, x.shape)
        assert x.is_contiguous() and x.untyped_storage().nbytes() == x.nbytes
    assert torch.equal(a["tokens"], b["tokens"]), (a["tokens"], b["tokens"])
    return ((a["logits"] - b["logits"]).abs().max() / b["logits"].abs().max()).item()
print(json.dumps([compare(*(os.path.join(folder, name) for folder in sys.argv[1:3])) for name in sys.argv[3:]]))`

describeWithPython('what is saved for aiu-fms-testing-utils', 'torch, transformers, safetensors', () => {
  const BASELINE = ['decoders', 'baseline', 'tiny', ...SHAPE, '--baseline', 'torch:cpu,dtype=bf16']
  const FORMAT = ['--validation-info-format', 'fms']
  const csv = (folder: string, place: string) =>
    METRICS.map((metric) => readFileSync(join(folder, place, `${NAME}.${metric}.csv`), 'utf8'))
  let folder: string

  beforeAll(async () => {
    folder = project()
    expect((await assay(['micro', 'llama', '--hidden', '32', '-o', 'tiny'], folder)).code).toBe(0)
    const { results, stderr } = await assayJson([...BASELINE, ...FORMAT], folder, env)
    expect(results, stderr).toMatchObject([{ verdict: 'captured', coverage: { compared: 15, expected: 15 } }])
    await saveInfo(folder)
  }, 180_000)

  test('lies beside the metric files, and torch reads what transformers gives, field by field', () => {
    const names = ['cpu', 'cuda'].flatMap((device) =>
      [0, 1].map((index) => `${NAME}.${device}_validation_info.${index}.out`),
    )
    expect(readdirSync(join(folder, 'metrics')).filter((name) => /_validation_info/.test(name))).toEqual(names)
    const words = ['-c', CHECK, join(folder, 'metrics'), join(folder, 'saved'), ...names]
    const ran = spawnSync(PYTHON, words, { encoding: 'utf8' })
    expect(ran.status, ran.stderr).toBe(0)
    const distances = JSON.parse(ran.stdout) as number[]
    expect(distances.map((distance, i) => distance < (i < 2 ? 1e-5 : 0.05))).toEqual([true, true, true, true])
  })

  test('gives the same metric files without a model', async () => {
    const words = [...BASELINE, '--skip-computation', '--validation-info-dir', 'metrics', '--metrics-dir', 'again']
    const { results, stderr } = await assayJson(words, folder, env)
    expect(results, stderr).toMatchObject([{ id: 'tiny/b2/s32/n4@cuda', verdict: 'captured' }])
    expect(csv(folder, 'again')).toEqual(csv(folder, 'metrics'))
    const plain = await assayJson([...BASELINE, '--metrics-dir', 'plain'], folder, env)
    expect(plain.results).toMatchObject([{ verdict: 'captured' }])
    expect(csv(folder, 'plain')).toEqual(csv(folder, 'metrics'))
  })

  test('stands for the reference with the same verdict, and the target is saved beside it', async () => {
    const alone = (await assayJson(TEST, folder, env)).results[0]!
    const saving = [...TEST, '--validation-info-dir', 'tested', ...FORMAT]
    const saved = (await assayJson(saving, folder, env)).results[0]!
    const read = await assayJson([...TEST, '--validation-info-dir', 'tested'], folder, env)
    const facts = ({ verdict, coverage, metrics }: typeof alone) => {
      const own = metrics.filter(({ name }) => !name.startsWith('full_'))
      // Whoever adds up the vocabulary rounds the last digits in another way.
      return { verdict, coverage, metrics: own.map(({ name, value }) => [name, value?.toPrecision(6)]) }
    }
    expect(facts(saved)).toEqual(facts(alone))
    expect(facts(read.results[0]!), read.stderr).toEqual(facts(alone))
    expect(read.results[0]!.measurements['reference.imported']).toMatch(/^2 of 2 batches/)
    const devices = ['aiu', 'cpu'].flatMap((device) => [0, 1].map((i) => `${device}_validation_info.${i}.out`))
    const name = NAME.replace('bf16', 'fp32')
    expect(readdirSync(join(folder, 'tested')).sort()).toEqual(devices.map((device) => `${name}.${device}`))
    const again = await assayJson(saving, folder, env)
    expect(again.results).toMatchObject([{ verdict: alone.verdict }])
  })

  test('is not written over what is read again, where that holds something else', async () => {
    const change = `
import sys, torch
saved = torch.load(sys.argv[1])
saved["logits"][0, 0] += 1
torch.save(saved, sys.argv[1])`
    const name = `${NAME}.cuda_validation_info.1.out`
    cpSync(join(folder, 'metrics'), join(folder, 'gpu'), { recursive: true })
    python(change, join(folder, 'gpu', name, '1.pt'))
    const before = readFileSync(join(folder, 'gpu', name, '1.pt'))
    const { results } = await assayJson([...BASELINE, ...FORMAT, '--validation-info-dir', 'gpu'], folder, env)
    expect(results).toMatchObject([{ verdict: 'error' }])
    expect(results[0]!.error!.message).toContain(
      `${name} is not saved: it is there already with other tokens or logits; remove it, or save into another folder`,
    )
    expect(readFileSync(join(folder, 'gpu', name, '1.pt'))).toEqual(before)
    expect(readdirSync(join(folder, 'gpu')).filter((each) => each.endsWith('.tmp'))).toEqual([])
  })
})

test('what no Python can read is not used, and the reference decodes; a folder that is not there is told', async () => {
  const folder = project({ [`saved/${NAME}.cpu_validation_info.0.out/0.pt`]: 'anything' })
  expect((await assay(['micro', 'llama', '--hidden', '32', '-o', 'tiny'], folder)).code).toBe(0)
  const { code, stderr } = await assay([...SAVED, '--metrics-threshold', '3.1,0.001'], folder)
  expect(code, stderr).toBe(0)
  expect(stderr).toContain(
    `what aiu-fms-testing-utils saved in ${join(folder, 'saved')} is not used: torch needs a Python environment, which is not set up here; run: assay setup python torch`,
  )
  const mistyped = await assay([...TEST, '--list', '--validation-info-dir', 'savde'], folder)
  expect(mistyped.stderr).toContain(
    `--validation-info-dir savde does not exist, so nothing is taken from it; did you mean ${join(folder, 'saved')}?`,
  )
})
