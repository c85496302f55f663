import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { hasPython } from '../support/python.ts'

/** A library whose products of bfloat16 do what is asked; the processor announces tiles or not. */
const PROGRAM = `
import os, signal, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "workers/python")
from assay_worker.engines.matrix_tiles import avoid_forbidden_tiles
class Ones:
    def __matmul__(self, other): exec(os.environ["MULTIPLYING"])
class Torch:
    bfloat16 = None
    class cpu:
        _is_amx_tile_supported = staticmethod(lambda: os.environ["TILES"] == "announced")
    @staticmethod
    def ones(*shape, dtype): return Ones()
print(avoid_forbidden_tiles(Torch), os.environ.get("ONEDNN_MAX_CPU_ISA"))
`

const DIES = 'os.kill(os.getpid(), signal.SIGILL)'

const isHere = process.platform === 'linux' && hasPython

describeWith('python', isHere, 'matrix tiles', () => {
  test.each([
    ['forbidden', { MULTIPLYING: DIES, TILES: 'announced' }, 'True AVX512_CORE_FP16'],
    ['allowed', { MULTIPLYING: 'pass', TILES: 'announced' }, 'False None'],
    ['not announced', { MULTIPLYING: DIES, TILES: '' }, 'False None'],
    ['switched off by the user', { MULTIPLYING: DIES, TILES: 'announced', ONEDNN_MAX_CPU_ISA: 'AVX2' }, 'False AVX2'],
    ['tried by what raises', { MULTIPLYING: 'raise KeyError', TILES: 'announced' }, 'False None'],
  ])('that are %s', (_what, env, said) => {
    const { stdout, stderr } = spawnSync('python3', ['-c', PROGRAM], {
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
    })
    expect(stdout.trim(), stderr).toBe(said)
  })
})
