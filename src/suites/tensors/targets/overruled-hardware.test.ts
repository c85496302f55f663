import { describe, expect, test } from 'vitest'
import type { FileValues } from '../../../options/in-file.ts'
import { resolveOptions } from '../../../options/resolve.ts'
import { TEST_OPTIONS } from '../../onnx/options.ts'
import type { TargetSections } from './config-target.ts'
import { withoutOverruled } from './overruled-hardware.ts'

function settled(commandLine: Record<string, unknown>, file: TargetSections & FileValues<typeof TEST_OPTIONS> = {}) {
  const { values, origins } = resolveOptions(TEST_OPTIONS, { commandLine, environment: {}, file })
  return withoutOverruled(values, origins, file, {})
}

describe('hardware for all targets, each of which names its own', () => {
  const targets = { npu: 'ssh:root@a,program=run', fast: 'command:./run,chip=fast' }

  test('is refused where it is given with the targets, or after them', () => {
    expect(() => settled({ target: ['npu'], board: 'root@b' }, { targets })).toThrow(
      'no target would use --board root@b: "npu" names root@a; leave one board out',
    )
    expect(() => settled({ chip: 'slow' }, { targets, target: 'fast' })).toThrow(
      'no target would use --chip slow: "fast" names fast; leave one chip out',
    )
    expect(() => settled({}, { targets, target: 'npu', board: 'root@b' })).toThrow('no target would use --board root@b')
  })

  test('gives way to targets that are named on the command line', () => {
    expect(settled({ target: ['fast'] }, { targets, chip: 'slow', hw: 'x' })).toMatchObject({
      chip: undefined,
      hw: 'x',
    })
    expect(settled({ target: ['npu'] }, { targets, board: 'root@b' }).board).toBe(undefined)
  })

  test('stays for a target or a reference that names none', () => {
    expect(settled({ target: ['fast', 'command:./run'], chip: 'slow' }, { targets }).chip).toBe('slow')
    expect(settled({ target: ['npu'], reference: ['ssh,program=run'], board: 'root@b' }, { targets }).board).toBe(
      'root@b',
    )
    expect(() => settled({ target: ['npu'], reference: ['ort:cpu'], board: 'root@b' }, { targets })).toThrow(
      'no target',
    )
    expect(settled({ hw: 'x' }).hw).toBe('x')
  })
})
