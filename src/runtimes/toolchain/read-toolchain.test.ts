import { describe, expect, test } from 'vitest'
import { findToolchain, readToolchain } from './read-toolchain.ts'

const good = {
  compile: ['cc', '{model}', '-o', '{artifact}'],
  run: ['run', '{artifact}', '--in={input}', '--out={output}'],
}
const read = (given: unknown, name = 'mycc') => readToolchain(name, given, '/project', 'toolchains.mycc')

describe('a toolchain of a configuration', () => {
  test('has defaults, and paths from the folder of the configuration', () => {
    expect(read(good)).toEqual({
      name: 'mycc',
      version: null,
      argv: { import: null, ...good },
      tensors: 'npy',
      limitsMs: {},
      env: [],
      cwd: '/project',
      ir: [],
      files: null,
    })
    const compile = [...good.compile, '{ir_dir}', '{hw}', '{chip_file}']
    const more = { compile, cwd: 'tools', files: ['lib/*.so'], limits: { compile: '5min', run: 2.5 }, ir: ['a.mlir'] }
    expect(read({ ...good, ...more })).toMatchObject({
      cwd: '/project/tools',
      files: ['/project/lib/*.so'],
      limitsMs: { compile: 300_000, run: 2500 },
      ir: [{ name: 'a', file: 'a.mlir' }],
    })
  })

  test('a program that the compiler makes may be what runs', () => {
    expect(read({ ...good, run: ['{artifact}.exe', '{inputs}', '{outputs}'] }).argv.run[0]).toBe('{artifact}.exe')
  })

  test('forms are called by what tells them apart', () => {
    const compile = [...good.compile, '--dump={ir_dir}']
    const names = (ir: string[]) => read({ ...good, compile, ir }).ir.map(({ name }) => name)
    expect(names(['m.1.input.mlir', 'm.2.flow.mlir'])).toEqual(['input', 'flow'])
    expect(names(['a.opt.mlir', 'b.opt.mlir', 'plan'])).toEqual(['a.opt', 'b.opt', 'plan'])
  })

  const imports = { ...good, import: ['im', '{model}', '{imported}'] }
  test.each<[string, unknown, string]>([
    ['no object', 'cc', 'found string "cc", expected an object with version, import, compile'],
    ['nothing to run', { compile: good.compile }, 'run is missing'],
    ['a mistyped key', { ...good, complie: [] }, 'unknown key "complie" in toolchains.mycc; did you mean "compile"?'],
    ['an empty list', { ...good, run: [] }, 'run is empty, expected a program and its arguments'],
    ['an empty program', { ...good, run: ['', '{artifact}'] }, 'run begins with an empty string, expected the program'],
    [
      'a text',
      { ...good, compile: 'cc  {model}' },
      "compile is one string, expected a list: there is no shell. Write ['cc', '{model}']",
    ],
    ['a number', { ...good, compile: [...good.compile, 8] }, 'compile holds number 8, expected strings'],
    [
      'a list at the beginning',
      { ...good, run: [['a'], '{artifact}'] },
      'run begins with a list, expected the program',
    ],
    ['a NUL character', { ...good, compile: [...good.compile, 'a\0b'] }, 'compile holds a NUL character'],
    [
      'a mistyped placeholder',
      { ...good, compile: ['cc', '{modle}', '{artifact}'] },
      'compile has the unknown placeholder {modle}; did you mean {model}?',
    ],
    [
      'a strange placeholder',
      { ...good, compile: ['cc', '{model}{x y}', '{artifact}'] },
      'known: {model} {imported} {artifact}',
    ],
    [
      'a lone brace',
      { ...good, compile: [...good.compile, 'a{b'] },
      'compile has a "{" that is not part of a placeholder; for a literal brace write {{',
    ],
    [
      'inputs at compile',
      { ...good, compile: [...good.compile, '{inputs}'] },
      'compile has {inputs}, which can be used only in run',
    ],
    ['no artifact', { ...good, compile: ['cc', '{model}'] }, 'compile does not mention {artifact}'],
    ['no model', { ...good, compile: ['cc', '{artifact}'] }, 'compile does not mention {model}'],
    ['no inputs', { ...good, run: ['r', '{artifact}', '{output}'] }, 'run does not mention {input} or {inputs}'],
    ['no outputs', { ...good, run: ['r', '{artifact}', '{input}'] }, 'run does not mention {output} or {outputs}'],
    [
      '{imported} of nothing',
      { ...good, run: [...good.run, '{imported}'] },
      'run has {imported}, but there is no import',
    ],
    ['an import that is not used', imports, 'compile does not mention {imported}'],
    [
      'a placeholder in version',
      { ...good, version: ['cc', '{chip}'] },
      'version has {chip}, but takes no placeholders',
    ],
    [
      'a program that is a placeholder',
      { ...good, compile: ['{chip}', ...good.compile] },
      'compile begins with {chip}, expected the name or path of a program',
    ],
    [
      'inputs and outputs in one',
      { ...good, run: ['r', '{artifact}', '{input}:{output}'] },
      'run has {input} and {output} in one argument',
    ],
    [
      'single files of safetensors',
      { ...good, tensors: 'safetensors' },
      'run has {input}, but with safetensors one file holds all: {inputs}',
    ],
    [
      'an unknown kind of file',
      { ...good, tensors: 'npz' },
      'unknown tensors "npz" in toolchains.mycc; did you mean "npy"?',
    ],
    [
      'a limit of nothing',
      { ...good, limits: { run: 'soon' } },
      'limits.run is "soon", expected a time such as 20s or 5min',
    ],
    ['a limit of no time', { ...good, limits: { run: 0 } }, 'limits.run is "0", expected a time'],
    ['a mistyped limit', { ...good, limits: { complie: 1 } }, 'did you mean "compile"?'],
    ['a variable with its value', { ...good, env: ['KEY=secret'] }, 'env holds "KEY=***", expected only the name'],
    ['forms out of place', { ...good, ir: ['../x'] }, 'ir names "../x", expected a plain file name'],
    [
      'forms that nobody writes',
      { ...good, ir: ['x.mlir'] },
      'ir names files in {ir_dir}, which compile does not mention',
    ],
  ])('%s is refused', (_, given, words) => {
    expect(() => read(given)).toThrow(words)
  })

  test('a name that no target could have is refused', () => {
    expect(() => read(good, 'a,b')).toThrow('its name may have letters, digits')
  })

  test('is found by its name', () => {
    const mycc = read(good)
    expect(findToolchain('mycc', { mycc })).toBe(mycc)
    expect(() => findToolchain('myc', { mycc })).toThrow('unknown toolchain "myc"; did you mean "mycc"?')
    expect(() => findToolchain('clang', { mycc })).toThrow('the configuration has mycc')
    expect(() => findToolchain('constructor', {})).toThrow('the configuration has none; describe it in assay.config.ts')
  })
})
