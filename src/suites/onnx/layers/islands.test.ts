import { expect, test } from 'vitest'
import { buildModel } from '../../../onnx/builder.ts'
import { WorkerFailure } from '../../../runtimes/failure.ts'
import { type Fault, hasOp, plantedKind, withNumbers } from '../../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, judgeModels, verdicts } from '../../testing/judge.ts'

const OPS = ['Neg', 'Exp', 'Tanh', 'Sigmoid', 'Abs']
const SCOPES = OPS.map((op, i) => `layer_${op}_v${i + 1}`)

const model = buildModel({
  inputs: [{ name: 'v0', dtype: 'float32', shape: [2, 3] }],
  outputs: [{ name: 'v5', dtype: 'float32' }],
  nodes: OPS.map((op, i) => ({ op, inputs: [`v${i}`], outputs: [`v${i + 1}`] })),
})

/** Counts the nodes of every session that is opened for layers. */
async function judged(fault: Fault = {}, judging: Judging = {}) {
  const sessions: string[] = []
  const open: Fault['open'] = (given, options) => {
    if ('bytes' in given) sessions.push(OPS.filter((op) => hasOp(given, op)).join(' '))
    fault.open?.(given, options)
  }
  const kinds = [plantedKind('faulty', { ...fault, open })]
  const folder = folderWith({ 'm.onnx': model })
  const outcome = await judgeModels(folder, { scopes: ['layers'], targets: ['faulty:cpu'], kinds, ...judging })
  return { outcome, verdicts: verdicts(outcome), sessions }
}

const ALL = OPS.join(' ')
const PASSES = SCOPES.map((scope) => `pass ${scope}`)

test('layers run side by side in one session, each on what the reference computed', async () => {
  const found = await judged()
  expect(found.verdicts).toEqual(PASSES)
  expect(found.sessions).toEqual([ALL])
  expect(found.outcome.results[2]!.measurements).toMatchObject({
    'reference.values': 'from the full run',
    'target.layers_in_session': 5,
  })
})

test('only the layers that are judged run', async () => {
  const found = await judged({}, { run: { select: { keyword: 'Exp or Abs' } } })
  expect(found.verdicts).toEqual([PASSES[1], PASSES[4]])
  expect(found.sessions).toEqual(['Exp Abs'])
})

test('a fault in one of them is judged alone and blames no other', async () => {
  const wrong: Fault = {
    output: (name, given, { model }) => {
      const isTanh = name === '2/output0' || (hasOp(model, 'Tanh') && !hasOp(model, 'Exp'))
      return isTanh ? withNumbers(given, (value) => value + 1) : given
    },
  }
  const found = await judged(wrong)
  expect(found.verdicts).toEqual(PASSES.with(2, `fail ${SCOPES[2]}`))
  expect(found.sessions).toEqual([ALL, 'Tanh'])
  const files = ['layer.onnx', 'inputs.safetensors', 'reference.safetensors', 'target.safetensors']
  expect(found.outcome.results[2]!.artifacts.map(({ name }) => name)).toEqual(files)
})

test('an output that is missing is judged alone', async () => {
  const found = await judged({ output: (name, given) => (name === '3/output0' ? null : given) })
  expect(found.verdicts).toEqual(PASSES)
  expect(found.sessions).toEqual([ALL, 'Sigmoid'])
})

test('where a session is refused, its halves are tried, and the refusal blames only the layer that is refused alone', async () => {
  const refuse: Fault['open'] = (given) => {
    if ('bytes' in given && hasOp(given, 'Abs')) throw new Error('no Abs here')
  }
  const found = await judged({ open: refuse })
  expect(found.verdicts).toEqual(PASSES.with(4, `error ${SCOPES[4]}`))
  expect(found.sessions).toEqual([ALL, 'Neg Exp Tanh', 'Sigmoid Abs', 'Sigmoid', 'Abs', 'Abs'])
  expect(found.outcome.results[4]!.error).toMatchObject({ stage: 'compile', message: 'faulty:cpu: no Abs here' })
})

test('where a worker dies, each of them is judged alone', async () => {
  const die: Fault['open'] = (given) => {
    if ('bytes' in given && hasOp(given, 'Tanh')) throw new WorkerFailure('died', 'the worker died', {})
  }
  const found = await judged({ open: die })
  expect(found.verdicts).toEqual(PASSES.with(2, `error ${SCOPES[2]}`))
  // A death alone counts if it happens twice.
  expect(found.sessions).toEqual([ALL, 'Neg', 'Exp', 'Tanh', 'Tanh', 'Sigmoid', 'Abs'])
})

test.each<[string, Fault, Judging]>([
  ['a target that does not say it can', { capabilities: { islands: false } }, {}],
  ['a target whose sessions share memory', { capabilities: { sharedMemory: true } }, {}],
  ['a device that warns', { warnings: ['refused a kernel'] }, {}],
  ['--keep-all', {}, { run: { keep: true } }],
  ['random inputs', {}, { layerInputs: 'random' }],
  ['another reference', {}, { otherReferences: ['ort:cpu,threads=2'] }],
  ['limited time of a case', {}, { run: { caseTimeoutMs: 600_000 } }],
])('layers run alone with %s', async (_name, fault, judging) => {
  const found = await judged(fault, judging)
  expect(found.sessions.filter((ops) => ops !== ALL)).toEqual(OPS)
})
