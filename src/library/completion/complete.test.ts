import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { CACHE_OPTIONS } from '../../cli/command-options.ts'
import { TEST_OPTIONS } from '../../suites/onnx/options.ts'
import { type CommandWords, complete } from './complete.ts'

const COMMANDS: readonly CommandWords[] = [
  { name: 'test', summary: 'judge models', options: TEST_OPTIONS, completes: 'files' },
  { name: 'cache', summary: 'the cache', options: CACHE_OPTIONS, completes: ['status', 'prune', 'clear'] },
  { name: '__complete', summary: '', options: {}, hidden: true },
]

const folder = mkdtempSync(join(tmpdir(), 'assay-complete-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function recordRun(name: string, header: unknown): void {
  mkdirSync(join(folder, '.assay/runs', name), { recursive: true })
  writeFileSync(
    join(folder, '.assay/runs', name, 'run.json'),
    typeof header === 'string' ? header : JSON.stringify(header),
  )
}

async function offered(...words: string[]): Promise<string[]> {
  const { candidates, paths } = await complete(COMMANDS, words, folder)
  return [...candidates.map(({ text }) => text), ...(paths ? [`:${paths}`] : [])]
}

describe('completion offers', () => {
  test.each<[string[], string[]]>([
    [[''], ['test', 'cache', '--help', '--version']],
    [['te'], ['test']],
    [['__'], []],
    [['help', 'ca'], ['cache']],
    [['tset', ''], []],
    [
      ['cache', ''],
      ['status', 'prune', 'clear'],
    ],
    [
      ['cache', '--cache-'],
      ['--cache-dir', '--cache-size'],
    ],
    [['cache', '--cache-dir', ''], [':folders']],
    [['test', 'mod'], [':files']],
    [
      ['test', '--lay'],
      ['--layer-group', '--layer-inputs'],
    ],
    [
      ['test', '--no-'],
      ['--no-config', '--no-color'],
    ],
    [
      ['test', '--scope', 'f'],
      ['full', 'full,layers'],
    ],
    [['test', '--scope=l'], ['--scope=layers']],
    [
      ['test', '--reporter', 'j'],
      ['json', 'junit'],
    ],
    [['test', '--seed', ''], []],
    [['test', '--strict', ''], [':files']],
    [
      ['test', '--target', 'ort'],
      ['ort:cpu', 'ort-web:wasm'],
    ],
    [['test', '--target', 'comm'], ['command:']],
    [['test', '--target=ort:cpu,thr'], ['--target=ort:cpu,threads=']],
    [['test', '--target', 'ort:cpu,h'], []],
    [['test', '--target', 'command:./run,h'], ['command:./run,hw=']],
    [['test', '--target', 'fast=ort:cpu,deter'], ['fast=ort:cpu,deterministic=']],
    [['test', '--target', 'ort:cpu,threads=2,deterministic=t'], ['ort:cpu,threads=2,deterministic=true']],
    [['test', '--target', 'nothing:x,'], []],
  ])('for %j: %j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected)
  })

  test('an option again only where it can be repeated', async () => {
    expect(await offered('test', '--target', 'ort:cpu', '--strict', '--t')).toEqual(['--target', '--timeout'])
    expect(await offered('test', '--strict', '--str')).toEqual([])
  })

  test('ids and targets of the last run', async () => {
    expect(await offered('test', '-k', '')).toEqual([])
    const cases = ['net/full_model@quick', 'net/layer_Conv_a.b@quick', 'my net/x@quick', 'evil\u001b[2J/x@quick']
    recordRun('01AAAAAAAAAAAAAAAAAAAAAAAA', { plan: { cases: ['old/full_model@x'] } })
    recordRun('01BBBBBBBBBBBBBBBBBBBBBBBB', { plan: { cases }, options: { target: ['quick'] } })
    expect(await offered('test', '-k', '')).toEqual(['net/full_model@quick', 'net/layer_Conv_a.b@quick'])
    expect(await offered('test', '-t', 'net/l')).toEqual(['net/layer_Conv_a\\.b@quick'])
    expect(await offered('test', '--target', 'q')).toEqual(['quick'])
  })

  test('of many ids only the next part', async () => {
    const ids = Array.from({ length: 60 }, (_, i) => `${i % 2 ? 'odd' : 'even'}/layer_${i}@x`)
    recordRun('01CCCCCCCCCCCCCCCCCCCCCCCC', { plan: { cases: ids } })
    expect(await offered('test', '-k', '')).toEqual(['even/', 'odd/'])
    expect((await offered('test', '-k', 'odd/')).length).toBe(30)
  })

  test('nothing, quietly, where the last record is damaged', async () => {
    for (const header of ['{ torn', '[]', 'null', '{ "plan": { "cases": 3 } }', '']) {
      recordRun('01DDDDDDDDDDDDDDDDDDDDDDDD', header)
      expect(await offered('test', '-k', '')).toEqual([])
    }
  })
})
