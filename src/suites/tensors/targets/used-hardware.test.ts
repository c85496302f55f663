import { describe, expect, test } from 'vitest'
import { resolveOptions } from '../../../options/resolve.ts'
import { TARGET_SCHEMAS } from '../../../runtimes/registry.ts'
import { readToolchains } from '../../../runtimes/toolchain/toolchains.ts'
import { TEST_OPTIONS } from '../../onnx/options.ts'
import { chosenTargets } from './chosen-targets.ts'
import type { TargetSections } from './config-target.ts'

const run = ['run', '{artifact}', '{inputs}', '{outputs}']
const toolchains = {
  plain: { compile: ['cc', '{model}', '-o', '{artifact}'], run },
  chips: { compile: ['cc', '{model}', '--chip={chip_file}', '-o', '{artifact}'], run },
  boards: {
    import: ['im', '{model}', '{imported}', '{hw}'],
    compile: ['cc', '{imported}', '{artifact}', '{board}'],
    run,
  },
}

function chosen(commandLine: Record<string, unknown>, file: TargetSections = {}) {
  const config = { toolchains, ...file }
  const { values } = resolveOptions(TEST_OPTIONS, { commandLine, environment: {}, file: config })
  return chosenTargets(values, config, { cwd: '.', toolchains: readToolchains(config.toolchains, '.') })
}

const names = (...args: Parameters<typeof chosen>) => chosen(...args).targets.map(({ name }) => name)

const DEVICES: Readonly<Record<string, string>> = {
  command: ':./run',
  toolchain: ':boards',
  ssh: ':root@a,program=run',
  recorded: ':golden',
}
const TAKERS = ['command', 'toolchain', 'ssh']

describe('hardware that a target does not use', () => {
  test.each(Object.keys(TARGET_SCHEMAS))('%s takes a hardware type, or refuses it', (runtime) => {
    const target = `${runtime}${DEVICES[runtime] ?? ''},hw=npu`
    const wanted = () => names({ target: [target] })
    if (TAKERS.includes(runtime)) expect(wanted()[0]).toContain(',hw=npu')
    else expect(wanted).toThrow(`${runtime} uses no hardware type; leave it out, or give it to a target that takes one`)
  })

  test('is refused with the targets that take it', () => {
    expect(() => names({ hw: 'astra_machina', board: 'root@127.0.0.1' })).toThrow(
      '--hw astra_machina: target "ort-web:wasm" uses no hardware type; leave it out, or give it to a target that takes one: command, toolchain (whose tools use {hw}), ssh',
    )
    expect(() => names({ target: ['npu=ort:cpu,board=root@a'] })).toThrow(
      'board=root@a of target "npu": ort uses no board; ',
    )
  })

  test('of one target among several is refused too, wherever it is given', () => {
    const target = ['command:./run', 'ort-web']
    for (const key of ['hw', 'chip', 'board']) {
      const words = `--${key} a: target "ort-web:wasm" uses no `
      expect(() => names({ target, [key]: 'a' })).toThrow(words)
      expect(() => names({ target }, { [key]: 'a' })).toThrow(words)
    }
    expect(names({ target: ['command:./run,chip=a', 'ort-web'] })).toEqual(['command:./run,chip=a', 'ort-web:wasm'])
  })

  test.each<[string, NonNullable<TargetSections['targets']>]>([
    ['a text', { mine: 'ort:cpu,chip=a' }],
    ['an object', { mine: { runtime: 'ort', options: { chip: 'a' } } }],
  ])('of a target that a configuration describes as %s is refused', (_, targets) => {
    expect(() => names({ target: ['mine'] }, { targets })).toThrow('ort uses no chip; ')
    expect(() => names({ reference: ['mine'], target: ['ort-web'] }, { targets })).toThrow('ort uses no chip; ')
  })

  test.each([
    ['toolchain:plain', 'hw', 'hardware type'],
    ['toolchain:plain', 'chip', 'chip'],
    ['toolchain:plain', 'board', 'board'],
    ['toolchain:chips', 'board', 'board'],
    ['toolchain:boards', 'chip', 'chip'],
  ])('%s refuses %s, which its tools are never told', (target, key, noun) => {
    const name = target.replace(':', ' ')
    expect(() => names({ target: [`${target},${key}=a`] })).toThrow(
      `${key}=a of target "${target},${key}=a": ${name} uses no ${noun}`,
    )
    expect(() => names({ target: [target], [key]: 'a' })).toThrow(`--${key} a: target "${target}" uses no ${noun}`)
    expect(() => names({ reference: [`${target},${key}=a`] })).toThrow(`${name} uses no ${noun}`)
  })

  test('a toolchain takes what its tools are told, as a name or as a file', () => {
    expect(names({ target: ['toolchain:chips'], chip: 'a' })).toEqual(['toolchain:chips,chip=a'])
    expect(names({ target: ['toolchain:boards,hw=x'], board: 'root@a' })).toEqual([
      'toolchain:boards,board=root@a,hw=x',
    ])
  })
})
