import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { locateProgram, workingFolder } from './locate-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-programs-'))
mkdirSync(join(folder, 'bin'))
writeFileSync(join(folder, 'bin/runner'), '#!/bin/sh\n', { mode: 0o755 })
writeFileSync(join(folder, 'script.py'), 'print()', { mode: 0o644 })

const locate = (program: string) => locateProgram(program, folder, join(folder, 'bin'))

describe('the program of a target', () => {
  test('is looked up in PATH, or is a path from the project', () => {
    expect(locate('runner')).toBe(join(folder, 'bin/runner'))
    expect(locate('./bin/runner')).toBe(join(folder, 'bin/runner'))
  })

  test.each([
    ['runer', 'cannot start runer: no program of this name in PATH; did you mean runner?'],
    ['script.py', `write ./script.py for the one in ${folder}`],
    ['./bin/runer', `there is no file ${folder}/bin/runer; did you mean runner?`],
    ['./sbin/runner', `there is no file ${folder}/sbin/runner, nor a folder ${folder}/sbin`],
    ['./bin', `${folder}/bin is a folder`],
    ['./script.py', `${folder}/script.py is not executable; run chmod +x, or start it with its interpreter`],
  ])('%s: what is wrong is said', (program, words) => {
    expect(() => locate(program)).toThrow(words)
  })

  test('is not found in an empty PATH', () => {
    expect(() => locateProgram('runner', folder, '')).toThrow(/no program of this name in PATH, which is empty$/)
  })

  test('is not found in a PATH with folders that nobody can look into', () => {
    symlinkSync(join(folder, 'loop'), join(folder, 'loop'))
    for (const place of ['loop', 'nowhere', 'script.py'])
      expect(() => locateProgram('runner', folder, join(folder, place))).toThrow(/no program of this name in PATH$/)
  })

  test('works in a folder that is there', () => {
    expect(workingFolder('bin', folder)).toBe(join(folder, 'bin'))
    expect(() => workingFolder('nowhere', folder)).toThrow(`the working folder ${folder}/nowhere does not exist`)
  })
})
