import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Result } from '../../domain/result.ts'
import { planRun } from '../../runs/plan/plan.ts'
import type { InProcessKind } from '../../runtimes/contract.ts'
import { folderRuntime } from '../../runtimes/testing/folder-runtime.ts'
import { inProcess, inProcessPool, testTarget } from '../../runtimes/testing/in-process-ort.ts'
import { type Fault, plantedKind, withNumbers } from '../../runtimes/testing/planted-fault.ts'
import { runSuites } from '../testing/judge.ts'
import { findModels } from './found-models.ts'
import { type ExpectationsOptions, expectationsSuite } from './suite.ts'
import { type TokenWeights, tokenFolder, tokenWeights } from './testing/token-folder.ts'

interface Asked extends Partial<Omit<ExpectationsOptions, 'pool' | 'targets'>> {
  readonly paths?: readonly string[]
  readonly targets?: readonly string[]
  readonly fault?: Fault
  readonly keyword?: string
  readonly kinds?: readonly InProcessKind[]
}

function suiteOptions(folder: string, asked: Asked): ExpectationsOptions {
  const { paths = ['m'], targets = ['folders:cpu'], fault = {}, keyword: _, kinds = [], ...more } = asked
  return {
    cwd: folder,
    models: findModels(
      paths.map((path) => ({ given: path, path })),
      folder,
      undefined,
    ),
    targets: targets.map(testTarget),
    areDefaults: false,
    folder: join(folder, 'expectations'),
    micro: false,
    capture: false,
    strictCapture: false,
    update: null,
    machine: { assay: '1.0.0', node: 'v24.0.0', memoryBytes: '1' },
    contents: false,
    ...more,
    pool: inProcessPool(folder, [
      inProcess('folders', folderRuntime),
      plantedKind('faulty', fault, folderRuntime),
      ...kinds,
    ]),
  }
}

/** Results by scope. */
async function expected(folder: string, asked: Asked = {}): Promise<Record<string, Result>> {
  const options = suiteOptions(folder, asked)
  const { keyword = 'output or weight_keys' } = asked
  try {
    const { results } = await runSuites(folder, [expectationsSuite(options)], { select: { keyword } })
    return Object.fromEntries(results.map((result) => [result.scope, result]))
  } finally {
    await options.pool.close()
  }
}

const OUTPUT = { keyword: 'output' }
const snapshotsOf = (folder: string) => readdirSync(join(folder, 'expectations')).sort()

/** Captures a folder, and then judges another model in its place, or a fault, or both. */
async function judgedAfter(folder: string, now: Asked & { weights?: TokenWeights; kind?: 'logits' | 'ends' }) {
  const { weights, kind = 'logits', ...asked } = now
  const targets = ['x=folders:cpu']
  expect((await expected(folder, { targets, capture: true })).output?.verdict).toBe('captured')
  if (weights) {
    const other = await tokenFolder('m', weights, kind)
    for (const name of readdirSync(join(other, 'm'))) {
      writeFileSync(join(folder, 'm', name), readFileSync(join(other, 'm', name)))
    }
  }
  return expected(folder, { targets: [asked.fault ? 'x=faulty:cpu' : 'x=folders:cpu'], ...asked })
}

function edited(edit: (weights: Record<string, Float32Array>) => void): TokenWeights {
  const weights = { ...tokenWeights() }
  edit(weights)
  return weights
}

describe('a model', () => {
  test('is captured, and passes as long as it gives the same', async () => {
    const folder = await tokenFolder('m')
    const first = await expected(folder, { capture: true })
    expect([first.output?.verdict, first.weight_keys?.verdict]).toEqual(['captured', 'captured'])
    expect(first.output?.reason).toMatch(/^saved in expectations\/m--folders-cpu-[0-9a-f]{8}\.json$/)
    const { output, weight_keys } = await expected(folder)
    expect([output?.verdict, weight_keys?.verdict]).toEqual(['pass', 'pass'])
    expect(output).toMatchObject({
      id: 'm/output@folders:cpu',
      suite: 'expectations',
      reference: 'snapshot',
      coverage: { compared: 1, expected: 1 },
      outputs: [{ name: 'logits', shape: [1, 64, 70], verdict: 'pass' }],
      measurements: { 'target.version': expect.any(String) },
    })
    expect(output?.metrics.map(({ name, value }) => [name, value])).toEqual([
      ['rel_l2_estimate', expect.closeTo(0, 9)],
      ['top1_changed', 0],
      ['signature_changed', 0],
    ])
  })

  test('is not compared with nothing: the error says how to capture', async () => {
    const { output, weight_keys } = await expected(await tokenFolder('m'))
    expect(output?.error?.message).toBe(
      'no output of m on folders:cpu was captured in expectations; if what it gives now is right: assay expect m --target folders:cpu --capture',
    )
    expect([output?.verdict, weight_keys?.verdict, weight_keys?.error?.stage]).toEqual(['error', 'error', 'discover'])
    const asked = { targets: ['x=folders:cpu,threads=2'], micro: true }
    const other = await expected(await tokenFolder('m'), { ...asked, folder: '/nowhere/kept' })
    expect(other.output?.error?.message).toMatch(
      /: assay expect m --target x=folders:cpu,threads=2 --expectations \/nowhere\/kept --micro --capture$/,
    )
  })

  test('is captured with the documented failure where that is wanted', async () => {
    const folder = await tokenFolder('m')
    const { output, weight_keys } = await expected(folder, { capture: true, strictCapture: true })
    expect([output?.verdict, weight_keys?.verdict]).toEqual(['fail', 'fail'])
    expect(output?.reason).toContain(
      'Signature file has been saved, please re-run the tests without --capture_expectation',
    )
    expect(weight_keys?.reason).toContain(
      'Weights Key file has been saved, please re-run the tests without --capture_expectation',
    )
    expect((await expected(folder)).output?.verdict).toBe('pass')
  })

  test('keeps its file if it is captured again unchanged', async () => {
    const folder = await tokenFolder('m')
    await expected(folder, { capture: true })
    const [name] = snapshotsOf(folder)
    const path = join(folder, 'expectations', name!)
    const old = readFileSync(path, 'utf8').replaceAll(/"captured": "[^"]+"/g, '"captured": "2020-01-01"')
    writeFileSync(path, old)
    const { output } = await expected(folder, { capture: true })
    expect(output?.reason).toMatch(/ has of 2020-01-01 is unchanged$/)
    expect(readFileSync(path, 'utf8')).toBe(old)
  })

  test('has no unfused weights to test where none are fused', async () => {
    const { unfused } = await expected(await tokenFolder('m'), { keyword: 'unfused' })
    expect([unfused?.verdict, unfused?.reason]).toEqual(['skip', 'no weights of this model are fused'])
  })
})

describe('a folder without weights', () => {
  const bare = async () => {
    const folder = await tokenFolder('m')
    rmSync(join(folder, 'm/model.safetensors'))
    return folder
  }
  /** Says of its weights what a target that drew them would say. */
  const drawing = (sha256: string) => {
    const weights = async () => [
      { name: 'model.norm.weight', dtype: 'bfloat16', shape: [2], sha256: 'same' },
      { name: 'lm_head.weight', dtype: 'bfloat16', shape: [3, 2], sha256 },
    ]
    const real = folderRuntime()
    return inProcess('drawing', () => ({
      ...real,
      probe: async (device) => {
        const probe = await real.probe(device)
        return probe.available ? { ...probe, capabilities: { ...probe.capabilities, weights: true } } : probe
      },
      open: async (model, options) => ({ ...(await real.open(model, options)), weights }),
    }))
  }

  test('is judged by the weights that the target drew', async () => {
    const folder = await bare()
    const asked = { targets: ['drawing:cpu'], keyword: 'weight_keys' }
    const { weight_keys: first } = await expected(folder, { ...asked, kinds: [drawing('a')], capture: true })
    expect([first?.verdict, first?.measurements.source]).toEqual(['captured', 'the target'])
    expect((await expected(folder, { ...asked, kinds: [drawing('a')] })).weight_keys?.verdict).toBe('pass')
    const { weight_keys } = await expected(folder, { ...asked, kinds: [drawing('b')] })
    expect([weight_keys?.verdict, weight_keys?.reason]).toEqual(['fail', 'weight lm_head.weight has other content'])
  })

  test('is skipped if the target does not say what weights it has', async () => {
    const { weight_keys } = await expected(await bare(), { keyword: 'weight_keys', capture: true })
    expect([weight_keys?.verdict, weight_keys?.reason]).toEqual([
      'skip',
      'the folder has no safetensors, and folders:cpu does not say what weights it has',
    ])
  })
})

describe('what fails, and why', () => {
  test('weights that were permuted', async () => {
    const weights = edited((all) => {
      all.head = all.head!.map((_, i, head) => head[Math.floor(i / 70) * 70 + ((i + 1) % 70)]!)
    })
    const { output, weight_keys } = await judgedAfter(await tokenFolder('m'), { weights })
    expect([output?.verdict, weight_keys?.verdict]).toEqual(['fail', 'fail'])
    expect(output?.reason).toMatch(
      /^logits: projections differ, the signature does not: values were permuted; the top-1 id changed at \d+ of 60 positions$/,
    )
    expect(weight_keys?.reason).toBe('weight model.head.weight has other content')
    expect(output?.figures).toEqual([
      expect.stringMatching(/^changed since the capture of .*: the files of the model$/),
    ])
  })

  test('one weight whose sign was flipped', async () => {
    const weights = edited((all) => {
      all.head = all.head!.map((value, i) => (i === 17 ? -value : value))
    })
    const { output, weight_keys } = await judgedAfter(await tokenFolder('m'), { weights })
    expect([output?.verdict, weight_keys?.verdict]).toEqual(['fail', 'fail'])
    expect(output?.reason).toMatch(/^logits: (projections differ|the signature differs at position \d+)/)
    expect(weight_keys?.reason).toBe('weight model.head.weight has other content')
  })

  test('a whole matrix whose sign was flipped', async () => {
    const weights = edited((all) => {
      all.head = all.head!.map((value) => -value)
    })
    const { output } = await judgedAfter(await tokenFolder('m'), { weights })
    expect(output?.reason).toMatch(/^logits: all values changed sign; the top-1 id changed at \d+ of 60 positions$/)
  })

  test('an output that was shifted by a number, which neither signature nor top-1 ids see', async () => {
    const shifted: Fault = { output: (_, given) => withNumbers(given, (value) => value + 0.25) }
    const { output } = await judgedAfter(await tokenFolder('m'), { fault: shifted, ...OUTPUT })
    expect([output?.verdict, output?.reason]).toEqual(['fail', 'logits: all values are larger by 0.25'])
    expect(output?.metrics.find(({ name }) => name === 'signature_changed')?.value).toBe(0)
  })

  test('an output whose positions were shifted', async () => {
    const width = 70
    const late: Fault = {
      output: (_, given) => {
        const row = width * 4
        const bytes = new Uint8Array(given.bytes.length)
        bytes.set(given.bytes.subarray(0, given.bytes.length - row), row)
        bytes.set(given.bytes.subarray(given.bytes.length - row))
        return { ...given, bytes }
      },
    }
    const { output } = await judgedAfter(await tokenFolder('m'), { fault: late, ...OUTPUT })
    expect(output?.reason).toMatch(/^logits: its positions come 1 later; the top-1 id changed at/)
  })

  test('is not what a decoder gives for padding, which differs between kernels', async () => {
    const folder = await tokenFolder('m')
    const padded = 4 * 70
    const fault: Fault = {
      output: (_, given) =>
        withNumbers(given, (value, i) => (i === 1 ? Number.NaN : i < padded ? (i % 2 ? 50 : -50) : value)),
    }
    const { output } = await judgedAfter(folder, { fault, ...OUTPUT })
    expect([output?.verdict, output?.reason]).toEqual(['pass', undefined])
    const next: Fault = { output: (_, given) => withNumbers(given, (value, i) => (i === padded ? value + 20 : value)) }
    const first = await expected(folder, { targets: ['x=faulty:cpu'], fault: next, ...OUTPUT })
    expect(first.output?.reason).toMatch(/^logits: the signature differs at position 4: .*top-1 id changed at 1 of 60/)
  })

  test('two outputs of a tuple that were swapped', async () => {
    const folder = await tokenFolder('m', tokenWeights(), 'ends')
    const names = { start_logits: 'end_logits', end_logits: 'start_logits' }
    const { output } = await judgedAfter(folder, { fault: { names }, ...OUTPUT })
    expect(output?.verdict).toBe('fail')
    expect(output?.reason).toBe('outputs 0 and 1 are swapped (start_logits and end_logits)')
  })

  test('an output that is not there any more', async () => {
    const folder = await tokenFolder('m', tokenWeights(), 'ends')
    const gone: Fault = { output: (name, given) => (name === 'end_logits' ? null : given) }
    const { output } = await judgedAfter(folder, { fault: gone, ...OUTPUT })
    expect(output?.reason).toBe('output end_logits is gone')
  })

  test('values that are not finite any more', async () => {
    const fault: Fault = { output: (_, given) => withNumbers(given, (value, i) => (i === 5 * 70 ? Number.NaN : value)) }
    const { output } = await judgedAfter(await tokenFolder('m'), { fault, ...OUTPUT })
    expect(output?.reason).toBe('logits: 1 of its values are NaN, 0 were')
  })
})

describe('the limits', () => {
  test('let roundings pass, and are those that the snapshot was captured with', async () => {
    const rounding: Fault = {
      output: (_, given) => withNumbers(given, (value, i) => value * (1 + (i % 2 ? 1e-5 : -1e-5))),
    }
    const folder = await tokenFolder('m')
    const { output } = await judgedAfter(folder, { fault: rounding, ...OUTPUT })
    expect([output?.verdict, output?.flags]).toEqual(['pass', []])
  })

  test('of another precision are told, and do not widen those of the snapshot', async () => {
    const coarse: Fault = {
      output: (_, given) => withNumbers(given, (value, i) => value * (1 + (i % 2 ? 0.01 : -0.01))),
    }
    const folder = await tokenFolder('m')
    const asked = { fault: coarse, targets: ['x=faulty:cpu,dtype=bf16'], ...OUTPUT }
    const { output } = await judgedAfter(folder, asked)
    expect([output?.verdict, output?.flags]).toEqual(['fail', ['tolerance-changed']])
    expect(output?.reason).toContain(
      'judged by the limits of the snapshot, relL2 1e-4 (float32 whole model (table)); a new one would have relL2 0.05 (bfloat16 whole model (table))',
    )
    const healthy = await expected(folder, { targets: ['x=folders:cpu,dtype=bf16'], ...OUTPUT })
    expect([healthy.output?.verdict, healthy.output?.flags]).toEqual(['pass', ['tolerance-changed']])
    expect(healthy.output?.figures?.[0]).toMatch(/^judged by the limits of the snapshot/)
  })
})

describe('--update', () => {
  const id = 'm/output@x'

  test('captures one case anew and shows old beside new figures', async () => {
    const folder = await tokenFolder('m')
    const fault: Fault = { output: (_, given) => withNumbers(given, (value) => 2 * value) }
    const renewed = await judgedAfter(folder, { fault, update: id })
    expect(Object.keys(renewed)).toEqual(['output'])
    expect(renewed.output?.verdict).toBe('captured')
    expect(renewed.output?.reason).toMatch(
      /^renewed in expectations\/.*: logits: all values are 2 times what they were$/,
    )
    expect(renewed.output?.table?.head).toEqual(['output', expect.stringMatching(/^\d{4}-/), 'now'])
    const row = renewed.output!.table!.rows.find(([name]) => name === 'logits rms')!
    expect(Number(row[2])).toBeCloseTo(2 * Number(row[1]), 2)
    expect((await expected(folder, { targets: ['x=faulty:cpu'], fault })).output?.verdict).toBe('pass')
    expect((await expected(folder, { targets: ['x=folders:cpu'] })).weight_keys?.verdict).toBe('pass')
  })

  test('of a case that is none says which was meant', async () => {
    const folder = await tokenFolder('m')
    const options = suiteOptions(folder, { targets: ['x=folders:cpu'], update: 'm/ouput@x' })
    await expect(planRun({ suites: [expectationsSuite(options)] })).rejects.toThrow(
      'unknown --update "m/ouput@x"; did you mean "m/output@x"?',
    )
  })
})

describe('models of one name', () => {
  test('have their own snapshots, however they are named', async () => {
    const folder = await tokenFolder('org-a/x')
    const other = await tokenFolder(
      'org-b/x',
      edited((all) => all.head!.reverse()),
    )
    mkdirSync(join(folder, 'org-b/x'), { recursive: true })
    for (const name of readdirSync(join(other, 'org-b/x'))) {
      writeFileSync(join(folder, 'org-b/x', name), readFileSync(join(other, 'org-b/x', name)))
    }
    await expected(folder, { paths: ['org-a/x/'], capture: true })
    expect((await expected(folder, { paths: ['org-b/x'] })).output?.verdict).toBe('error')
    await expected(folder, { paths: ['org-b/x'], capture: true })
    expect(snapshotsOf(folder)).toHaveLength(2)
    for (const path of ['org-a/x', './org-a/x', 'org-b/x/', join(folder, 'org-b/x')]) {
      expect((await expected(folder, { paths: [path] })).output?.verdict).toBe('pass')
    }
  })
})

test('a model that is judged as one of another kind than it was captured as is told so', async () => {
  const folder = await tokenFolder('m')
  await expected(folder, { capture: true })
  const [model] = suiteOptions(folder, {}).models
  const { output } = await expected(folder, { models: [{ ...model!, kind: 'tuple' }], ...OUTPUT })
  expect([output?.verdict, output?.reason]).toEqual([
    'fail',
    'it was captured as a model that writes text and is judged as a model with several outputs now; list it as what it is, or capture it anew',
  ])
})

describe('documented files', () => {
  const CLASS = 'models.test_model_expectations.TestAIUDecoderModels'
  const write = (folder: string, test: string, content: string) => {
    mkdirSync(join(folder, 'expectations'), { recursive: true })
    writeFileSync(join(folder, `expectations/${CLASS}.m.${test}`), content)
  }

  /** The signature, as Python writes it. */
  async function documentedSignature(folder: string): Promise<string> {
    await expected(folder, { targets: ['x=folders:cpu'], capture: true, folder: join(folder, 'other') })
    const [name] = readdirSync(join(folder, 'other'))
    const { output } = JSON.parse(readFileSync(join(folder, 'other', name!), 'utf8'))
    return output.signature.values.join(',')
  }

  test('are enough to judge a model', async () => {
    const folder = await tokenFolder('m')
    write(folder, 'test_model_output', await documentedSignature(folder))
    write(folder, 'test_model_weight_keys', 'model.embedding.weight,model.ends.weight,model.head.weight')
    const { output, weight_keys } = await expected(folder)
    expect([output?.verdict, weight_keys?.verdict]).toEqual(['pass', 'pass'])
    expect(output?.measurements.documented).toBe(`expectations/${CLASS}.m.test_model_output`)
  })

  test('fail by the documented tolerance and names', async () => {
    const folder = await tokenFolder('m')
    const numbers = (await documentedSignature(folder)).split(',')
    write(folder, 'test_model_output', numbers.with(17, String(Number(numbers[17]) + 1e-3)).join(','))
    write(folder, 'test_model_weight_keys', 'model.embedding.weight,model.ends.weight,model.tail.weight')
    const { output, weight_keys } = await expected(folder)
    expect(output?.verdict).toBe('fail')
    expect(output?.reason).toMatch(
      /^the documented signature differs at position 17: .*; at most 0\.00001 \+ 0\.0000013·/,
    )
    expect(weight_keys?.reason).toBe(
      'the model lacks model.tail.weight and has model.head.weight besides, by the documented list of 3 names',
    )
  })

  test('with NaN never pass, and other text is refused', async () => {
    const folder = await tokenFolder('m')
    const numbers = (await documentedSignature(folder)).split(',')
    write(folder, 'test_model_output', numbers.with(3, 'nan').join(','))
    expect((await expected(folder, OUTPUT)).output?.reason).toMatch(/differs at position 3: .*, was NaN/)
    write(folder, 'test_model_output', numbers.with(3, 'x').join(','))
    expect((await expected(folder, OUTPUT)).output?.error?.message).toMatch(/found "x" where a number belongs/)
    write(folder, 'test_model_output', '1,2,3')
    expect((await expected(folder, OUTPUT)).output?.reason).toMatch(/has 3 numbers, these outputs give 64/)
  })

  test('are judged beside a snapshot of ours', async () => {
    const folder = await tokenFolder('m')
    await expected(folder, { capture: true })
    write(folder, 'test_model_output', '1,2,3')
    expect((await expected(folder, OUTPUT)).output?.verdict).toBe('fail')
  })

  test('of whatever name are found in -k', async () => {
    const folder = await tokenFolder('m')
    const kinds = [
      ['TestAIUDecoderModels', 3],
      ['TestAIUModelsTupleOutput', 0],
      ['test_model_output[m-False]', 1],
      ['test_model_weight_keys[m-False]', 1],
      ['test_model_unfused[m]', 1],
      ['test_model_output[m-True]', 0],
    ] as const
    for (const [keyword, count] of kinds) {
      const options = suiteOptions(folder, {})
      const { header } = await planRun({ suites: [expectationsSuite(options)], select: { keyword } })
      expect([keyword, header.cases.length]).toEqual([keyword, count])
    }
    const tuple = await tokenFolder('m', tokenWeights(), 'ends')
    const suites = [expectationsSuite(suiteOptions(tuple, { capture: true }))]
    const select = { keyword: 'TestAIUModelsTupleOutput and test_model_output[m-True]' }
    expect((await planRun({ suites, select })).header.cases).toEqual(['m/output@folders:cpu'])
  })
})

describe('what cannot be judged', () => {
  test('is a model whose vocabulary is too small for the fixed ids', async () => {
    const folder = await tokenFolder('m', tokenWeights(), 'logits', 40)
    const { output } = await expected(folder, { capture: true })
    expect([output?.verdict, output?.error?.stage]).toEqual(['error', 'inputs'])
    expect(output?.error?.message).toBe(
      'the vocabulary of this model has 40 tokens, but the fixed token ids go up to 64',
    )
  })

  test('are outputs that are all equal', async () => {
    const fault: Fault = { output: (_, given) => withNumbers(given, () => 1) }
    const asked = { targets: ['faulty:cpu'], fault, ...OUTPUT }
    const folder = await tokenFolder('m')
    await expected(folder, { ...asked, capture: true })
    const { output } = await expected(folder, asked)
    expect([output?.verdict, output?.reason]).toEqual([
      'inconclusive',
      'all values of all outputs are equal, which proves nothing',
    ])
  })

  test('is a target that is not here; one that nobody named is skipped', async () => {
    const folder = await tokenFolder('m')
    const asked = { targets: ['faulty:cpu'], fault: { absent: 'no driver' }, capture: true, ...OUTPUT }
    expect((await expected(folder, asked)).output?.error?.message).toBe('faulty:cpu is not available: no driver')
    expect((await expected(folder, { ...asked, areDefaults: true })).output?.verdict).toBe('skip')
    expect(existsSync(join(folder, 'expectations'))).toBe(false)
  })

  test('is a target whose device warned about its work', async () => {
    const folder = await tokenFolder('m')
    const { output } = await judgedAfter(folder, { fault: { warnings: ['a kernel was refused'] }, ...OUTPUT })
    expect([output?.verdict, output?.reason]).toEqual(['inconclusive', 'a kernel was refused'])
  })
})
