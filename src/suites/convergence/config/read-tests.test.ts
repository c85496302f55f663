import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { UsageError } from '../../../domain/errors.ts'
import { gatherArgv, replayArgv, resumeArgv } from './program-argv.ts'
import { readConvergenceTests } from './read-tests.ts'
import { DOCUMENTED_CONFIG as DOCUMENTED } from './testing/documented-config.ts'

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

async function load(text: string) {
  const folder = await mkdtemp(join(tmpdir(), 'assay-tests-'))
  folders.push(folder)
  await writeFile(join(folder, 'demo.yml'), text)
  return readConvergenceTests(join(folder, 'demo.yml'), process.cwd())
}

async function loadOne(text: string) {
  return (await load(text))[0]!
}

async function refusal(text: string): Promise<string> {
  const error = await load(text).then(
    () => new Error('it was not refused'),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(UsageError)
  return (error as UsageError).message
}

const SMALL = `small:
  directory: .
  executable: [node, train.mjs]
  log_output: stdout
  log_parsing:
    step_num: {regex: 'step (\\d+)'}
    model_save: {regex: 'saved (\\S+)'}
    loss: {regex: 'loss (\\S+)'}
  metrics:
    loss: {margin: 0.1, comparison: '<='}
  recording: {steps_to_record_after_save: 3}
  flags:
    gather:
      checkpoint_output: {key: --out, set_in_script: true}
    run:
      checkpoint_input: {key: --in, set_in_script: true}
      start_step: {key: --start, set_in_script: true}
      run_for: {key: --end, set_in_script: true}
`

function changed(from: string | RegExp, to: string): string {
  const text = SMALL.replace(from, () => to)
  expect(text).not.toBe(SMALL)
  return text
}

describe('the documented configuration', () => {
  it('is read unchanged', async () => {
    const test = await loadOne(DOCUMENTED)
    expect(test).toMatchObject({
      name: 'bert',
      directory: 'applications/bert',
      executable: ['python3', 'myapp.py'],
      logOutput: 'stderr',
      stepsToRecord: 3,
      recordingCounts: 'steps',
      resumeAt: null,
      runFor: 'end',
      stepsPerUnit: 1,
      warnings: [],
    })
    const rule = { tolerance: { kind: 'isclose', margin: 0.2 }, warmUpSteps: 0, maxOutliers: 0 }
    expect(test.rules).toEqual({ loss: { ...rule, comparison: '<=' }, accuracy: { ...rule, comparison: '>=' } })
    expect(test.parsing.metrics.loss).toMatchObject({ kind: 'pattern', labels: ['MLM', 'NSP'] })
    expect(Object.keys(test.parsing.metrics)).toEqual(['loss', 'accuracy'])
  })

  it('gives the documented command lines', async () => {
    const test = await loadOne(DOCUMENTED)
    const common = '--steps-per-log 1 --config configs/demo.json'
    expect(gatherArgv(test, { checkpointOutput: '/s/ckpts' }).join(' ')).toBe(
      `python3 myapp.py --checkpoint-dir /s/ckpts --epochs-per-save 5 --epochs 200 ${common}`,
    )
    expect(replayArgv(test, { checkpointInput: '/s/m', startStep: 4, runFor: 7, seed: null }).join(' ')).toBe(
      'python3 myapp.py --onnx-checkpoint /s/m --continue-training-from-epoch 4 --epochs 7 ' +
        `--engine-cache __demo_runtest_engine_cache ${common}`,
    )
    const resumed = { checkpointOutput: '/s/ckpts', checkpointInput: '/s/m', startStep: 4 }
    expect(resumeArgv(test, resumed).join(' ')).toBe(
      'python3 myapp.py --checkpoint-dir /s/ckpts --onnx-checkpoint /s/m --continue-training-from-epoch 4 ' +
        `--epochs-per-save 5 --epochs 200 ${common}`,
    )
  })

  it('goes on to where training would have ended, although its program counts what is left', async () => {
    const documented = await loadOne(DOCUMENTED)
    const { flags } = documented
    const test = { ...documented, flags: { ...flags, run: { ...flags.run, runFor: { key: '--epochs' } } } }
    const reach = { checkpointOutput: 'out', checkpointInput: 'in', startStep: 20 }
    expect(resumeArgv({ ...test, runFor: 'count' }, reach)).toContain('180')
    expect(resumeArgv({ ...test, runFor: 'end' }, reach)).toContain('200')
  })

  const MANDATORY = [
    'directory',
    'executable',
    'log_output',
    'log_parsing',
    'log_parsing.step_num',
    'log_parsing.step_num.regex',
    'log_parsing.model_save',
    'log_parsing.model_save.regex',
    'log_parsing.loss.regex',
    'metrics',
    'metrics.loss.margin',
    'metrics.loss.comparison',
    'recording',
    'recording.steps_to_record_after_save',
    'flags',
    'flags.gather',
    'flags.gather.checkpoint_output',
    'flags.gather.checkpoint_output.key',
    'flags.run',
    'flags.run.checkpoint_input',
    'flags.run.checkpoint_input.key',
    'flags.run.start_step',
    'flags.run.start_step.key',
    'flags.run.run_for',
    'flags.run.run_for.key',
    'flags.gather.misc.epochs_to_run.key',
    'flags.common.config.key',
  ]

  it.each(MANDATORY)('without %s is refused by that name', async (key) => {
    const { parseDocument } = await import('yaml')
    const document = parseDocument(DOCUMENTED)
    expect(document.deleteIn(['bert', ...key.split('.')])).toBe(true)
    const message = await refusal(document.toString())
    expect(message).toMatch(/demo\.yml:\d+: /)
    expect(message).toContain(`bert.${key} is missing; expected `)
  })

  it.each(MANDATORY)('with nothing at %s is refused by that name', async (key) => {
    const { parseDocument } = await import('yaml')
    const document = parseDocument(DOCUMENTED)
    document.setIn(['bert', ...key.split('.')], null)
    expect(await refusal(document.toString())).toContain(`bert.${key} is empty; expected `)
  })
})

describe('the value of a flag', () => {
  it.each([
    ['1e-3', '1e-3'],
    ['1.0', '1.0'],
    ['yes', 'yes'],
    ['True', 'True'],
    ['010', '010'],
    ['1_000', '1_000'],
    ['"a b"', 'a b'],
    ["'null'", 'null'],
    ['0x10', '0x10'],
    ['2024-01-01', '2024-01-01'],
    ['""', ''],
    ['a: b', null],
  ])('%s is the text %j', async (written, text) => {
    const yaml = `${SMALL}    common:\n      x:\n        value: ${written}\n        key: --x\n`
    if (text === null) expect(await refusal(yaml)).toContain('not valid YAML')
    else expect((await loadOne(yaml)).flags.common).toEqual([{ key: '--x', value: text }])
  })

  it.each(['value: null', 'value: ~', 'value:', '# none'])('with %s makes a flag of its key alone', async (line) => {
    const test = await loadOne(`${SMALL}    common:\n      x:\n        key: --x\n        ${line}\n`)
    expect(gatherArgv(test, { checkpointOutput: 'o' })).toEqual(['node', 'train.mjs', '--out', 'o', '--x'])
  })

  it('is not passed where set_in_script stands, whatever its value', async () => {
    const test = await loadOne(`${SMALL}    common:\n      x: {key: --x, value: 1, set_in_script: false}\n`)
    expect(test.flags.common).toEqual([])
    expect(test.warnings).toEqual(['small.flags.common.x has set_in_script, so it is left out: nothing fills it in'])
  })

  it('of a seed is filled in, or as written', async () => {
    const seeded = changed('checkpoint_input', 'seed: {key: --seed, set_in_script: true}\n      checkpoint_input')
    const reach = { checkpointInput: 'c', startStep: 4, runFor: 7 }
    expect(replayArgv(await loadOne(seeded), { ...reach, seed: 3 }).slice(8)).toEqual(['--seed', '3'])
    expect(replayArgv(await loadOne(seeded), { ...reach, seed: null }).slice(8)).toEqual([])
    const fixed = await loadOne(seeded.replace('--seed, set_in_script: true}', '--seed, value: 5}'))
    expect(replayArgv(fixed, { ...reach, seed: null }).slice(8)).toEqual(['--seed', '5'])
  })
})

describe('a configuration is refused', () => {
  it.each([
    ['that is empty', '', 'no tests'],
    ['that is a list', '- a', 'no tests'],
    ['that is no YAML', 'a: [', 'not valid YAML'],
    ['with a key twice', changed('directory: .', 'directory: .\n  directory: x'), 'unique'],
    ['with a second document', `${SMALL}---\na: 1`, 'not valid YAML'],
    ['with a mistyped key', changed('log_output', 'log_ouput'), 'did you mean "log_output"?'],
    ['with a mistyped key below', changed('margin:', 'margn:'), 'did you mean "margin"?'],
    ['with a flag outside of misc', changed('checkpoint_output:', 'x: {}\n      checkpoint_output:'), 'go under misc'],
    ['with one string to execute', changed('[node, train.mjs]', 'node train.mjs'), 'a list of strings'],
    ['with nothing to execute', changed('[node, train.mjs]', '[]'), 'names no program'],
    [
      'with another stream',
      changed('stdout', 'stdin'),
      'unknown small.log_output "stdin"; known: both, stderr, stdout',
    ],
    ['with an unknown operator', changed("'<='", "'=<'"), 'unknown small.metrics.loss.comparison "=<"'],
    ['with a negative margin', changed('0.1', '-0.1'), 'margin is "-0.1", expected a number of at least 0'],
    ['with a margin that is no number', changed('0.1', '.nan'), 'margin is ".nan"'],
    ['with an infinite margin', changed('0.1', '.inf'), 'margin is ".inf"'],
    ['with a margin beyond numbers', changed('0.1', '1e999'), 'margin is "1e999"'],
    ['with a metric of no parser', changed('loss: {margin', 'los: {margin'), 'did you mean "loss"?'],
    ['with no metric', changed(/metrics:\n.*\n/, 'metrics: {}\n'), 'at least one metric'],
    ['with no steps', changed('save: 3', 'save: 0'), 'a whole number of steps, at least 1'],
    ['with half a step', changed('save: 3', 'save: 2.5'), 'a whole number of steps, at least 1'],
    ['with a step pattern of no group', changed('step (\\d+)', 'step'), 'has no group'],
    ['with a metric pattern of no group', changed('loss (\\S+)', 'loss'), 'has no group'],
    ['with a pattern that is none', changed('loss (\\S+)', 'loss (?>x)'), 'regex is refused: the pattern "loss (?>x)"'],
    ['with labels twice', changed("loss (\\S+)'", "(a)(b)', labels: [x, x]"), 'has "x" twice'],
    ['with a field on lines', changed("regex: 'loss (\\S+)'", 'field: loss'), 'is for files and JSON lines'],
    ['with a path for lines', changed('metrics:', 'source: {kind: lines, path: x}\n  metrics:'), 'is for files'],
    ['with an unknown source', changed('metrics:', 'source: {kind: tensorbord}\n  metrics:'), 'mean "tensorboard"'],
    ['with a file of no path', changed('metrics:', 'source: {kind: csv}\n  metrics:'), 'source.path is missing'],
    ['with retries of nothing', `${SMALL}  retries: {attempts: 2}\n`, 'has no condition; add exit_codes or patterns'],
    ['with a margin for exact', changed("'<='}", "'<=', tolerance: {kind: exact}}"), 'has no meaning'],
    ['with two margins', changed("'<='}", "'<=', tolerance: {kind: abs, margin: 1}}"), 'keep one'],
    ['with no sigmas', changed('{margin: 0.1', '{tolerance: {kind: sigma}'), 'sigmas is missing'],
    ['with a sure alpha', changed('{margin: 0.1', '{tolerance: {kind: ttest, alpha: 1}'), 'between 0 and 1'],
    ['with a NUL in a flag', changed('--out', '"a\\0b"'), 'NUL'],
  ])('%s', async (_, text, reason) => {
    expect(await refusal(text)).toContain(reason)
  })

  it.each(['a/b', 'a\\b', '..', '.', '""', '"a\\tb"', '"a\\u202eb"', '__proto__', 'x'.repeat(101)])(
    'whose test is named %s',
    async (name) => {
      expect(await refusal(changed('small:', `${name}:`))).toContain('cannot be a file name')
    },
  )

  it('that aliases make huge', async () => {
    const rows = Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)
    expect(await refusal(`a0: &a0 [x]\n${rows.join('\n')}\n`)).toContain('more than 20000 values')
  })

  it('that has thousands of aliases', async () => {
    const aliases = Array.from({ length: 1001 }, () => '*a').join(',\n ')
    expect(await refusal(`a0: &a x\na1: [${aliases}]\n`)).toContain(':1002: found more than 1000 aliases; write out')
  })

  it('that names what comes later, or nothing', async () => {
    expect(await refusal('a: *b\nb: &b x\n')).toContain(':1: ')
    expect(await refusal('a: *b\n')).toContain(':1: ')
  })

  it('that is not there or too large', async () => {
    await expect(readConvergenceTests('/nowhere/x.yml', '/')).rejects.toThrow('no configuration file /nowhere/x.yml')
    expect(await refusal(`a: ${'x'.repeat(2 ** 20)}`)).toContain('split it')
  })
})

describe('a configuration may', () => {
  it('hold several tests, which share what an alias names', async () => {
    const other = '\nother:\n  <<: *small\n  directory: sub\n'
    const tests = await load(changed('small:', 'small: &small') + other)
    expect(tests.map(({ name, directory }) => [name, directory])).toEqual([
      ['small', '.'],
      ['other', 'sub'],
    ])
    expect(tests[0]!.digest).not.toBe(tests[1]!.digest)
  })

  it('use a name again: an alias is for the last one before it', async () => {
    const more = '\none: &b\n  <<: *a\n  directory: one\ntwo: &a\n  <<: *b\n  directory: two\nthree:\n  <<: *a\n'
    const tests = await load(changed('small:', 'small: &a') + more)
    expect(tests.map(({ directory }) => directory)).toEqual(['.', 'one', 'two', 'two'])
  })

  it('have labels that do not fit, and is warned of them', async () => {
    const test = await loadOne(changed("loss (\\S+)'", "loss (a) (b)', labels: [x]"))
    expect(test.parsing.metrics.loss).toMatchObject({ labels: null })
    expect(test.warnings).toEqual([
      'small.log_parsing.loss has 1 label for 2 groups, so its values are named by number, from 0',
    ])
  })

  it('have labels on step_num, which are ignored with a warning', async () => {
    const test = await loadOne(changed("step (\\d+)'", "step (\\d+)', labels: [x]"))
    expect(test.parsing.stepNum).toMatchObject({ labels: null })
    expect(test.warnings).toEqual(['small.log_parsing.step_num.labels is ignored: only the first group counts there'])
  })

  it('say all else that can be said', async () => {
    const test = await loadOne(
      changed("'<='}", "'==', tolerance: {kind: rel}, warmup_steps: 2, max_outliers: 0.1}").replace(
        'save: 3',
        'save: 3, counts: entries',
      ) +
        '  resume_at: next_step\n  run_for: count\n  steps_per_unit: 10\n  env: {A: 010, B: }\n' +
        "  timeouts: {idle: 5, total: 60}\n  retries: {exit_codes: [75], patterns: ['(?i)nccl']}\n",
    )
    expect(test).toMatchObject({
      rules: { loss: { comparison: '==', tolerance: { kind: 'rel', margin: 0.1 }, warmUpSteps: 2, maxOutliers: 0.1 } },
      recordingCounts: 'entries',
      resumeAt: 'next_step',
      runFor: 'count',
      stepsPerUnit: 10,
      environment: { A: '010', B: '' },
      idleSeconds: 5,
      totalSeconds: 60,
      retries: { attempts: 1, exitCodes: [75], patterns: ['(?i)nccl'] },
    })
  })

  it('judge exactly without margin and comparison', async () => {
    const test = await loadOne(changed("{margin: 0.1, comparison: '<='}", '{tolerance: {kind: exact}}'))
    expect(test.rules.loss).toMatchObject({ comparison: '==', tolerance: { kind: 'exact' } })
  })

  it('read JSON lines by field, with saves by pattern', async () => {
    const text = changed("loss: {regex: 'loss (\\S+)'}", 'loss: {fields: {MLM: loss.mlm, NSP: loss.nsp}}')
    const fields = text.replace("step_num: {regex: 'step (\\d+)'}", 'step_num: {field: step}')
    const test = await loadOne(`${fields}  source: {kind: jsonl}\n`)
    expect(test.parsing).toMatchObject({
      source: { kind: 'jsonl' },
      stepNum: { kind: 'fields', fields: { '0': 'step' } },
      modelSave: { kind: 'pattern' },
      metrics: { loss: { kind: 'fields', fields: { MLM: 'loss.mlm', NSP: 'loss.nsp' } } },
    })
  })

  it('read events of TensorBoard by tag, with step numbers of lines', async () => {
    const text = changed("loss: {regex: 'loss (\\S+)'}", 'loss: {field: train/loss}')
    const test = await loadOne(`${text}  source: {kind: tensorboard, path: runs}\n`)
    expect(test.parsing).toMatchObject({
      source: { kind: 'tensorboard', path: 'runs' },
      stepNum: { kind: 'fields', fields: {} },
      lineStepNum: { kind: 'pattern' },
      metrics: { loss: { kind: 'fields', fields: { '0': 'train/loss' } } },
    })
  })
})

it('has the same digest whatever its rules and its replays are', async () => {
  const { digest } = await loadOne(SMALL)
  const rules = changed("'<='}", "'==', tolerance: {kind: sigma, sigmas: 4}}").replace('margin: 0.1, ', '')
  for (const text of [rules, `${SMALL}  resume_at: next_step\n`, changed('run:', 'run:\n      seed: {key: --seed}')])
    expect((await loadOne(text)).digest, text).toBe(digest)
})

it('has another digest when flags come in another order', async () => {
  const flags = (order: string) => `${SMALL}    common: {${order}}\n`
  const [a, b] = [
    await loadOne(flags('x: {key: -x}, y: {key: -y}')),
    await loadOne(flags('y: {key: -y}, x: {key: -x}')),
  ]
  expect(a.digest).not.toBe(b.digest)
  expect(a.digest).toBe((await loadOne(`# a comment\n${flags('x: {key: -x}, y: {key: "-y"}')}`)).digest)
})
