import { afterAll, expect, test } from 'vitest'
import type { Tensor } from '../../src/domain/tensor.ts'
import { describeWithPython } from '../support/python.ts'
import { captureTensors, floats, numbersOf, testPool, traceOf } from './capture.ts'
import { failureOf } from './conformance.ts'
import { ownCode, ownCodeConfig, saveFolder } from './hugging-face.ts'
import { captureTaps, startTorch, trusted } from './torch-capture.ts'

const MODULES = `
class Add(nn.Module):
    def __init__(self, amount):
        super().__init__()
        self.amount = amount

    def forward(self, x):
        return x + self.amount


class Pair(nn.Module):
    def forward(self, x):
        return x * 2, None, "no tensor", [x * 3]


class Named(nn.Module):
    def forward(self, x):
        return {"first": x * 5, "rest": {"second": x * 7, "none": None}}


class OnlyNamed(nn.Module):
    def forward(self, *, x):
        return x * 11


class Broken(nn.Module):
    def forward(self, x):
        if float(x.sum()) > 100:
            raise RuntimeError("the moon is full")
        return x


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.broken = Broken()

    def forward(self, x):
        return self.broken(x)
`

const BODY = `
def __init__(self, config):
    super().__init__(config)
    self.again, self.pair, self.named, self.only, self.changed = Add(1), Pair(), Named(), OnlyNamed(), Add(0)
    self.blocks = nn.ModuleList([Block(), Block()])
    self.y = Add(1000)
    self.idle = Add(3)
    self.double = self.again
    self.post_init()

def forward(self, x: torch.FloatTensor):
    twice = self.again(self.again(x))
    self.pair(x)
    self.named(x)
    self.only(x=x)
    changed = self.changed(x)
    changed += 50
    for block in self.blocks:
        x = block(x)
    return {"y": x, "z": {"deep": [changed, None]}, "rest": self.y(twice)}
`

const network = () => saveFolder({ config: ownCodeConfig(), code: ownCode(BODY, MODULES) })
const X = traceOf({ x: floats([1, 2]) })

describeWithPython('outputs of submodules', 'torch, transformers', () => {
  const pool = testPool()
  afterAll(() => pool.close())

  const shown = (tensors: ReadonlyMap<string, Tensor>) =>
    Object.fromEntries([...tensors].map(([name, tensor]) => [name, numbersOf(tensor)]))

  test('have the names of named_modules, of their calls and of the way to each tensor in them', async () => {
    const captured = await captureTaps(pool, trusted, await network(), X, ['*'])
    expect(shown(captured.tensors)).toEqual({
      again: [2, 3],
      'again@1': [3, 4],
      'pair#0': [2, 4],
      'pair#3#0': [3, 6],
      'named#first': [5, 10],
      'named#rest#second': [7, 14],
      only: [11, 22],
      changed: [1, 2],
      'blocks.0.broken': [1, 2],
      'blocks.0': [1, 2],
      'blocks.1.broken': [1, 2],
      'blocks.1': [1, 2],
      'y@0': [1003, 1004],
      y: [1, 2],
      'z.deep.0': [51, 52],
      rest: [1003, 1004],
    })
    expect(captured.values.map(({ name }) => name).sort()).toEqual([...captured.tensors.keys()].sort())
    expect(captured.warnings).toEqual([])
  })

  test('are those that were asked for; one that is never called is told', async () => {
    const captured = await captureTaps(pool, trusted, await network(), X, ['only', 'idle'])
    expect([...captured.tensors.keys()].sort()).toEqual(['only', 'rest', 'y', 'z.deep.0'])
    expect(captured.warnings).toEqual(['module "idle" was not called'])
  })

  test('can be those of what goes in, by place and by name', async () => {
    const captured = await captureTaps(pool, trusted, await network(), X, ['again:in', 'only:in', 'only'])
    expect(shown(captured.tensors)).toMatchObject({
      'again:in#0': [1, 2],
      'again@1:in#0': [2, 3],
      'only:in#x': [1, 2],
      only: [11, 22],
    })
    const all = await captureTaps(pool, trusted, await network(), X, ['*:in'])
    expect([...all.tensors.keys()]).toEqual([
      ...['again:in#0', 'again@1:in#0', 'pair:in#0', 'named:in#0', 'only:in#x', 'changed:in#0'],
      ...['blocks.0:in#0', 'blocks.0.broken:in#0', 'blocks.1:in#0', 'blocks.1.broken:in#0', 'y:in#0'],
      ...['y', 'z.deep.0', 'rest'],
    ])
  })

  test('are computed on what the host gives in place of what goes in', async () => {
    const given = { 'only:in#x': floats([5, 6]), 'again@1:in#0': floats([100, 200]) }
    const inputs = traceOf({ x: floats([1, 2]), ...given })
    const captured = await captureTaps(pool, trusted, await network(), inputs, ['only', 'again', 'blocks.0'])
    expect(shown(captured.tensors)).toMatchObject({
      only: [55, 66],
      again: [2, 3],
      'again@1': [101, 201],
      'blocks.0': [1, 2],
      rest: [1101, 1201],
    })
    expect(captured.warnings).toEqual([])
  })

  test('do not come where what the host gives does not fit', async () => {
    const given = { 'only:in#x': floats([5, 6, 7]), 'pair:in#z': floats([1, 2]), 'named@1:in#0': floats([1, 2]) }
    const inputs = traceOf({ x: floats([1, 2]), ...given })
    const captured = await captureTaps(pool, trusted, await network(), inputs, ['only', 'pair', 'named'])
    expect([...captured.tensors.keys()]).toEqual(['named#first', 'named#rest#second', 'y', 'z.deep.0', 'rest'])
    expect(captured.warnings).toEqual([
      '"named@1" was not called with taps',
      '"pair" takes none of the tensors that it was given',
      '"only" takes a tensor of shape (2,) here, and was given (3,)',
    ])
  })

  test('are fed only where taps are asked for', async () => {
    const inputs = traceOf({ x: floats([1, 2]), 'only:in#x': floats([5, 6]) })
    const error = await failureOf(captureTensors(pool, trusted, await network(), inputs))
    expect(error.message).toContain('there is no input "only:in#x"')
  })

  test('do not come where none were asked for', async () => {
    const captured = await captureTensors(pool, trusted, await network(), X)
    expect([...captured.tensors.keys()]).toEqual(['y', 'z.deep.0', 'rest'])
  })

  test.each([
    ['blocks.0.brocken', 'OwnModel has no module "blocks.0.brocken"; did you mean "blocks.0.broken"?'],
    ['zzz', 'OwnModel has no module "zzz"; it has again, pair, named and'],
    ['double', 'the module "double" is "again" under another name; ask for that'],
    ['', 'the tap "" is the model itself, whose outputs come anyway'],
  ])('of a module %j are refused at compile', async (tap, message) => {
    const error = await failureOf(captureTaps(pool, trusted, await network(), X, [tap]))
    expect(error).toMatchObject({ stage: 'compile', message: expect.stringContaining(message) })
  })

  test.each([[undefined], [['*']], [['only']]])(
    'an exception is the innermost module’s error, with taps %j',
    async (taps) => {
      const inputs = traceOf({ x: floats([70, 70]) })
      const model = await network()
      const capture = taps
        ? captureTaps(pool, trusted, model, inputs, taps)
        : captureTensors(pool, trusted, model, inputs)
      const error = await failureOf(capture)
      expect(error).toMatchObject({ stage: 'run', side: 'target' })
      expect(error.message).toBe('torch:cpu,trust-code=true: blocks.0.broken (Broken): RuntimeError: the moon is full')
      expect(error.detail.stderr).toMatch(/raise RuntimeError\("the moon is full"\)\nRuntimeError: the moon is full$/)
      const after = await captureTensors(pool, trusted, model, X)
      expect(numbersOf(after.tensors.get('y'))).toEqual([1, 2])
    },
  )

  test('are the same in every one of 250 runs of one session', async () => {
    const worker = await startTorch(trusted)
    try {
      const { session } = await worker.open(await network(), { target: trusted, taps: ['*'] })
      for (let i = 0; i < 250; i++) {
        const names: string[] = []
        await worker.run(session, X, async (chunk) => void names.push(chunk.name))
        expect(names).toHaveLength(16)
        expect(names).toContain('again@1')
      }
    } finally {
      await worker.stop()
    }
  })
})
