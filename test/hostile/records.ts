import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toJson } from '../../src/domain/json.ts'
import { failedResult, sampleHeader } from '../../src/reporters/testing/sample-run.ts'
import { nested, pipe } from './bytes.ts'
import type { Row } from './corpus.ts'

const sound = { ...failedResult, artifacts: [] }
const results = [sound, { ...sound, id: 'b', model: 'b' }]
const ids = results.map(({ id }) => id)

type Change = Readonly<Record<string, unknown>>

/** Two shards of one plan; the first has what the row changes. */
function lay(folder: string, { header = {}, result = {}, lines }: Damage): void {
  for (const index of [1, 2]) {
    const own = join(folder, `s${index}`)
    mkdirSync(own, { recursive: true })
    const plan = { digest: 'd', cases: ids, selected: [ids[index - 1]!] }
    const run = { ...sampleHeader(results), shard: { index, count: 2 }, plan, ...(index === 1 && header) }
    writeFileSync(join(own, 'run.json'), toJson(run))
    const line = `${toJson({ ...results[index - 1], ...(index === 1 && result) })}\n`
    writeFileSync(
      join(own, 'results.jsonl'),
      index === 1 && lines !== undefined ? (typeof lines === 'function' ? lines() : lines) : line,
    )
  }
}

interface Damage {
  readonly header?: Change
  readonly result?: Change
  readonly lines?: string | Buffer | (() => string)
}

const merge = ['merge', 's1', 's2', '--reporter', 'terminal', '--reporter', 'junit:j.xml']

function row(name: string, damage: Damage, exit: Row['exit'], says: Row['says'], more: Partial<Row> = {}): Row {
  return { name, make: (folder) => lay(folder, damage), args: merge, exit, says, ...more }
}

/** Types that no record of ours has: each is refused with the place where it was found. */
const ofResult: Readonly<Record<string, Change>> = {
  'metrics of null': { metrics: [null] },
  'metrics of text': { metrics: ['x'] },
  'a metric without a name': { metrics: [{ direction: 'lower', value: 1, count: 1 }] },
  'a metric whose value is a list': { metrics: [{ name: 'm', direction: 'lower', value: [1], count: 1 }] },
  'outputs of null': { outputs: [null] },
  'outputs that are an object': { outputs: {} },
  'an output without metrics': { outputs: [{ name: 'y', verdict: 'fail' }] },
  'an output whose shape is text': { outputs: [{ ...sound.outputs[0], shape: 'x' }] },
  'an output whose worst is a number': { outputs: [{ ...sound.outputs[0], worst: 7 }] },
  'an output whose flags are objects': { outputs: [{ ...sound.outputs[0], flags: [{}] }] },
  'worst of null': { worst: [null] },
  'worst without an index': { worst: [{ tensor: 'y', reference: '1', target: '2', error: 1, allowed: 0 }] },
  'steps of null': { steps: [null] },
  'steps of numbers': { steps: [1, 2] },
  'artifacts of null': { artifacts: [null] },
  'artifacts of text': { artifacts: ['/etc/passwd'] },
  'flags of objects': { flags: [{}] },
  'a reason that is an object': { reason: {} },
  'a reason that is a list': { reason: ['x'] },
  'an error that is text': { verdict: 'error', error: 'x' },
  'an error whose arguments are text': { verdict: 'error', error: { stage: 'run', message: 'x', argv: 'x' } },
  'an error without a message': { verdict: 'error', error: { stage: 'run' } },
  'an error whose last words are a number': { verdict: 'error', error: { stage: 'run', message: 'x', stderr: 7 } },
  'a part that is text': { part: 'x' },
  'a part of nothing': { part: {} },
  'a band of null': { band: [null] },
  'a band that is an object': { band: {} },
  'curves of null': { curves: [null] },
  'a curve without steps': { curves: [{ name: 'c', verdict: 'fail' }] },
  'texts of null': { texts: [null] },
  'figures of objects': { figures: [{}] },
  'measurements of null': { measurements: null },
  'durations of null': { durationsMs: null },
  'a coverage of text': { coverage: { compared: 'x', expected: 1 } },
  'no coverage': { coverage: null },
  'a verdict of every object': { verdict: 'constructor' },
  'an expectation without an entry': { expected: {} },
  'an id that is a number': { id: 7 },
  'a command that is an object': { reproduce: {} },
}

const ofHeader: Readonly<Record<string, Change>> = {
  'an environment of null': { environment: null },
  'an environment of lists': { environment: { cpu: ['x'] } },
  'an environment that is a list': { environment: ['x'] },
  'options of null': { options: null },
  'options that are text': { options: 'x' },
  'options that nest 1 000 deep': { options: JSON.parse(nested(1000, '{"a":', '}', '1')) },
  'a shard of text': { shard: 'x' },
  'a shard without a count': { shard: { index: 1 } },
  'a shard of a fraction': { shard: { index: 1, count: 2.5 } },
  'a shard below 1': { shard: { index: -1, count: 2 } },
  'a plan of objects': { plan: { digest: 'd', cases: [{}], selected: [{}] } },
  'a plan without cases': { plan: { digest: 'd', selected: [] } },
  'a summary of text': { summary: 'x' },
  'a summary without counts': { summary: {} },
  'a state that is none': { state: 'toString' },
  'a start that is no time': { startedAt: 'x' },
  'a schema of the future': { schema: 'assay/run@9' },
  'no schema': { schema: undefined },
}

const artifact = (path: string) => ({ artifacts: [{ name: 'y', path, bytes: 1, sha256: 'a'.repeat(64) }] })
const DIGEST = `artifacts/${'a'.repeat(64)}`
const EVIL = '\u001b]0;pwn\u0007\u001b[2J\n::error title=pwned::x\n##vso[task.setvariable]x'

const damaged = 4 as const
const place = /s1\/(results\.jsonl line 1|run\.json)/

export const rows: readonly Row[] = [
  ...Object.entries(ofResult).map(([name, result]) => row(name, { result }, damaged, place)),
  ...Object.entries(ofHeader).map(([name, header]) => row(name, { header }, damaged, /s1/)),
  row(
    'an escape and a command in the environment',
    { header: { environment: { cpu: EVIL, [EVIL]: 'x' } } },
    1,
    'different environments',
  ),
  row('an escape and a command in a reason', { result: { reason: EVIL } }, 1, 'pwn'),
  row(
    'an escape and a command in an error',
    { result: { verdict: 'error', error: { stage: 'run', message: EVIL, argv: [EVIL], stderr: EVIL } } },
    1,
    'pwn',
  ),
  row(
    'an escape and a command in the problem of a run',
    { header: { state: 'failed', problem: EVIL } },
    damaged,
    'pwn',
  ),
  row('an artifact outside', { result: artifact('../../../etc/passwd') }, damaged, 'no place in a record'),
  row('an artifact with an absolute path', { result: artifact('/etc/passwd') }, damaged, 'no place in a record'),
  row(
    'an artifact that climbs from its folder',
    { result: artifact(`artifacts/../${'a'.repeat(64)}`) },
    damaged,
    'no place in a record',
  ),
  row('an artifact that is not there', { result: artifact(DIGEST) }, damaged, 'is missing or no regular file'),
  row('an artifact that is a link', { result: artifact(DIGEST) }, damaged, 'is missing or no regular file', {
    make: (folder) => [
      lay(folder, { result: artifact(DIGEST) }),
      mkdirSync(join(folder, 's1/artifacts')),
      symlinkSync('/etc/passwd', join(folder, 's1', DIGEST)),
    ],
  }),
  row('an artifact that is a pipe', { result: artifact(DIGEST) }, damaged, 'is missing or no regular file', {
    make: (folder) => [
      lay(folder, { result: artifact(DIGEST) }),
      mkdirSync(join(folder, 's1/artifacts')),
      pipe(`s1/${DIGEST}`)(folder),
    ],
  }),
  row('an artifact of other content', { result: artifact(DIGEST) }, damaged, 'its content is not what its name says', {
    make: (folder) => [
      lay(folder, { result: artifact(DIGEST) }),
      mkdirSync(join(folder, 's1/artifacts')),
      writeFileSync(join(folder, 's1', DIGEST), 'x'),
    ],
  }),
  row('a result of another plan', { result: { id: 'other' } }, damaged, 'a result that its plan does not list'),
  row('a result twice', { lines: `${toJson(sound)}\n${toJson(sound)}\n` }, damaged, 'two results'),
  row('a line that is torn', { lines: toJson(sound).slice(0, -9) }, damaged, 'is not complete'),
  row('a line that is no JSON', { lines: '{"id":\n' }, damaged, 'line 1 is no JSON'),
  row('a line of null', { lines: 'null\n' }, damaged, /expected object, received null/),
  row(
    'a line of 100 000 brackets',
    { lines: `${nested(100_000)}\n` },
    damaged,
    /expected object, received array|nests deeper/,
  ),
  row(
    'a line that nests 100 000 deep within a result',
    { lines: `${toJson({ ...sound, deep: 1 }).replace('"deep":1', `"deep":${nested(100_000)}`)}\n` },
    damaged,
    place,
  ),
  row('a key of the prototype', { lines: `{"__proto__":{"verdict":"pass"},${toJson(sound).slice(1)}\n` }, 1, 'fail'),
  row('bytes that are not UTF-8', { lines: Buffer.from([0xff, 0xfe, 0x0a]) }, damaged, /line 1 is no JSON|UTF-8/),
  row('lines that are empty', { lines: '\n\n\n' }, damaged, 'line 1 is no JSON'),
  row(
    'a shard of the same cases',
    { header: { plan: { digest: 'd', cases: ids, selected: ids } } },
    damaged,
    'both have the case',
  ),
  row(
    'a shard of another count',
    { header: { shard: { index: 1, count: 3 } } },
    damaged,
    'all must have the same count',
  ),
  row('a header that is no JSON', {}, damaged, 'is no JSON', {
    make: (folder) => [lay(folder, {}), writeFileSync(join(folder, 's1/run.json'), '{')],
  }),
  row('a header of 100 000 brackets', {}, damaged, place, {
    make: (folder) => [lay(folder, {}), writeFileSync(join(folder, 's1/run.json'), nested(100_000))],
  }),
  row('no results', {}, damaged, /results\.jsonl/, {
    make: (folder) => [lay(folder, {}), rmSync(join(folder, 's1/results.jsonl'))],
  }),
  row('results that are a folder', {}, damaged, /results\.jsonl/, {
    make: (folder) => [
      lay(folder, {}),
      rmSync(join(folder, 's1/results.jsonl')),
      mkdirSync(join(folder, 's1/results.jsonl')),
    ],
  }),
  row('results without end', {}, damaged, /results\.jsonl/, {
    alone: true,

    make: (folder) => [
      lay(folder, {}),
      rmSync(join(folder, 's1/results.jsonl')),
      symlinkSync('/dev/zero', join(folder, 's1/results.jsonl')),
    ],
  }),
  row('results that are a pipe', {}, damaged, /results\.jsonl/, {
    alone: true,

    make: (folder) => [lay(folder, {}), rmSync(join(folder, 's1/results.jsonl')), pipe('s1/results.jsonl')(folder)],
  }),
  row('a header that is a pipe', {}, damaged, /run\.json/, {
    alone: true,

    make: (folder) => [lay(folder, {}), rmSync(join(folder, 's1/run.json')), pipe('s1/run.json')(folder)],
  }),
  row(
    'a line of 120 megabytes',
    { lines: () => `{"id":"${'a'.repeat(120 * 2 ** 20)}"}\n` },
    damaged,
    /results\.jsonl/,
    {
      alone: true,
    },
  ),
  ...[1e9, 2 ** 31, 1e15].map((count) =>
    row(`a shard of ${count}`, { header: { shard: { index: 1, count } } }, damaged, /s1/, { alone: true }),
  ),
]
