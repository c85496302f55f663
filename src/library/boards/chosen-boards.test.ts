import { describe, expect, test } from 'vitest'
import { folderWith } from '../testing/project.ts'
import { chosenBoards } from './chosen-boards.ts'
import { workOnBoards } from './work-on-boards.ts'

const CONFIG = {
  targets: {
    npu: 'ssh:root@one,program=runner',
    npu16: 'ssh:root@one,program=runner,dtype=fp16',
    far: 'ssh:root@two,port=2222,program=runner,lease=10min',
    here: 'ort:cpu',
  },
}
const chosen = (words: readonly string[], forAll?: string) =>
  chosenBoards(words, CONFIG, forAll).map(({ board, targets }) => [board, targets])

describe('boards', () => {
  test('without a word are those of the configuration, each once with its targets', () => {
    expect(chosen([])).toEqual([
      ['root@one', ['npu', 'npu16']],
      ['root@two,port=2222,lease=10min', ['far']],
    ])
  })

  test('are chosen by the name of a target, by a spec, or by an address', () => {
    expect(chosen(['far'])).toEqual([['root@two,port=2222,lease=10min', ['far']]])
    expect(chosen(['ssh:me@three,program=x'])).toEqual([['me@three', []]])
    expect(chosen(['me@three'])).toEqual([['me@three', []]])
    expect(chosen(['me@three,folder=/data'])).toEqual([['me@three,folder=/data', []]])
  })

  test('that are given for all are added where none is named', () => {
    expect(chosen([], 'a@x,a@y').map(([board]) => board)).toEqual([
      'root@one',
      'root@two,port=2222,lease=10min',
      'a@x',
      'a@y',
    ])
  })

  test('are no targets that run here', () => {
    expect(() => chosen(['here'])).toThrow('the target "here" runs with ort; only ssh targets are on boards')
  })

  test.each(['-oProxyCommand=touch pwned', 'host;touch pwned', 'host$(touch pwned)', 'host touch', 'host\u0007'])(
    '%j is refused',
    (host) => {
      expect(() => chosen([host])).toThrow(/is refused/)
    },
  )
})

test('a board that cannot be asked has a reason and keeps nobody waiting', async () => {
  const boards = chosenBoards(['root@127.0.0.1,port=1'], {}, undefined)
  const request = { boards, cwd: folderWith(), environment: process.env, isForced: false }
  for (const action of ['list', 'free', 'clean'] as const) {
    const [outcome] = await workOnBoards(action, request)
    // Nobody listens there, or there is no ssh to ask with.
    expect(outcome).toMatchObject({ board: 'root@127.0.0.1,port=1', outcome: null, reason: expect.stringMatching(/./) })
  }
})
