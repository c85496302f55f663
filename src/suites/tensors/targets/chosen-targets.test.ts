import { describe, expect, test } from 'vitest'
import { resolveOptions } from '../../../options/resolve.ts'
import { TEST_OPTIONS } from '../../onnx/options.ts'
import { chosenTargets } from './chosen-targets.ts'

const chosen = (target: string[] | undefined, config = {}) => {
  const commandLine = target ? { target } : {}
  const { values } = resolveOptions(TEST_OPTIONS, { commandLine, environment: {}, file: config })
  return chosenTargets(values, config, { cwd: '.', toolchains: {} })
}
const names = (...args: Parameters<typeof chosen>) => chosen(...args).targets.map((target) => target.name)

describe('chosen targets', () => {
  test('without any, the default is tested against the default reference', () => {
    const { targets, reference, defaultReference, areDefaults } = chosen(undefined)
    expect(targets.map(({ name }) => name)).toEqual(['ort-web:wasm'])
    expect([reference, defaultReference.name, areDefaults]).toEqual([null, 'ort:cpu', true])
  })

  test('a name of the configuration stands for its target', () => {
    const config = { targets: { slow: { runtime: 'ort', options: { threads: 2 } }, old: 'ort@1.23.2' } }
    const { targets } = chosen(['slow', 'old'], config)
    expect(targets.map(({ name, runtime, version, options }) => [name, runtime, version, options])).toEqual([
      ['slow', 'ort', null, { threads: '2' }],
      ['old', 'ort', '1.23.2', {}],
    ])
  })

  test('lists of chips and hardware types make a matrix', () => {
    const matrix = names(['command:./run,chip=a,chip=b,hw=sim,hw=board'])
    expect(matrix).toEqual([
      'command:./run,chip=a,hw=sim',
      'command:./run,chip=b,hw=sim',
      'command:./run,chip=a,hw=board',
      'command:./run,chip=b,hw=board',
    ])
    expect(names(['mine=command:./run,chip=a,chip=b'])).toEqual(['mine[a]', 'mine[b]'])
  })

  test('hardware types and chips for all go to targets that name none', () => {
    const all = (commandLine: Record<string, unknown>) => {
      const { values } = resolveOptions(TEST_OPTIONS, { commandLine, environment: {}, file: {} })
      return chosenTargets(values, {}, { cwd: '.', toolchains: {} }).targets.map(({ name }) => name)
    }
    const target = ['command:./run', 'mine=command:./run,chip=z']
    expect(all({ target, hw: 'sim', chip: 'a,b' })).toEqual([
      'command:./run,chip=a,hw=sim',
      'command:./run,chip=b,hw=sim',
      'mine[sim]',
    ])
    expect(() => all({ target, chip: 'default.group' })).toThrow('chips are given one by one, as in --chip a,b')
  })

  test('a board for all is the address of ssh targets and an option of other programs of the user’s', () => {
    const all = (target: string[], board: string, reference?: string) => {
      const commandLine = { target, board, ...(reference && { reference }) }
      const { values } = resolveOptions(TEST_OPTIONS, { commandLine, environment: {}, file: {} })
      return chosenTargets(values, {}, { cwd: '.', toolchains: {} })
    }
    const namesOf = (...args: Parameters<typeof all>) => all(...args).targets.map(({ name }) => name)
    const given = ['ssh,program=run', 'mine=ssh,program=run', 'ssh:c,program=run', 'command:./run']
    expect(namesOf(given, 'root@a')).toEqual([
      'ssh:root@a,program=run',
      'mine',
      'ssh:c,program=run',
      'command:./run,board=root@a',
    ])
    expect(namesOf(['mine=ssh,program=run,chip=x,chip=y', 'command:./run,board=z'], 'a,b')).toEqual([
      'mine[a][x]',
      'mine[a][y]',
      'mine[b][x]',
      'mine[b][y]',
      'command:./run,board=z',
    ])
    expect(all(['command:./run'], 'a', 'ssh,program=run').reference?.device).toBe('a')
    expect(all(['command:./run'], 'a', 'ort:cpu').reference?.name).toBe('ort:cpu')
    expect(() => all(['command:./run'], 'a,b', 'ssh,program=run')).toThrow('would be on several boards')
    expect(() => all(['ssh,program=run'], '-oProxyCommand=x')).toThrow('the board "-oProxyCommand=x" is refused')
    expect(() => all(['ssh,program=run'], 'a;b')).toThrow('is refused because of the host "a;b"')
    expect(() => names(['ssh,program=run'])).toThrow('names no board; write ssh:user@host')
  })

  test('the same target twice is refused', () => {
    expect(() => names(['ort-web', 'ort-web:wasm'])).toThrow('target "ort-web:wasm" is given twice')
  })
})
