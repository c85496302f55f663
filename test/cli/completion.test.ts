import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { assay, main, project, temporaryFolder } from '../support/assay.ts'
import { describeWith } from '../support/needs.ts'
import { affineModel } from '../support/small-models.ts'

const folder = project({ 'nets/a.onnx': affineModel(), 'nets/it$(touch hacked)s.onnx': affineModel() })
const bin = temporaryFolder('bin')
writeFileSync(join(bin, 'assay'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
chmodSync(join(bin, 'assay'), 0o755)

function shell(program: string, args: readonly string[], line: string): string[] {
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, LINE: line, HOME: bin }
  const { stdout, stderr, status } = spawnSync(program, args, { cwd: folder, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`)
  return stdout.split('\n').filter(Boolean)
}

const has = (program: string) => spawnSync(program, ['--version']).status === 0

/** As bash calls it when Tab is pressed; words are broken as its readline does. */
const BASH = `source <(assay completion bash)
COMP_LINE="$LINE"; COMP_POINT=\${#LINE}
complete -p assay >/dev/null || exit 9
_assay_completion assay "" ""
printf '%s\\n' "\${COMPREPLY[@]}"`
const bash = (line: string, setup = '') => shell('bash', ['-c', `${setup}\n${BASH}`], line)

beforeAll(async () => {
  const { code, stdout } = await assay(['test', 'nets', '--target', 'quick=ort:cpu,threads=2'], folder)
  if (code !== 0) throw new Error(stdout)
})

describeWith('shell', has('bash'), 'in bash', () => {
  test.each([
    ['assay te', ['test']],
    ['assay cache ', ['status', 'prune', 'clear']],
    ['assay test --layer-i', ['--layer-inputs']],
    ['assay test nets/a', ['nets/a.onnx']],
    ['assay merge ne', ['nets']],
    ['ASSAY_SEED=1 assay test --scope f', ['full', 'full,layers']],
    ['assay completion ', ['bash', 'zsh', 'fish']],
  ])('%j becomes one of %j', (line, expected) => {
    expect(bash(line)).toEqual(expected)
  })

  test('what bash breaks into several words is completed from the last of them', () => {
    expect(bash('assay test --target chromium:webgpu-')).toEqual(['webgpu-jsep'])
    expect(bash('assay test --target=ort-web:w')).toEqual(['wasm'])
    expect(bash('assay test --target ort:cpu,deterministic=t')).toEqual(['true'])
    expect(bash('assay test --config=nets/a')).toEqual(['nets/a.onnx'])
    expect(bash('assay test -k a/full_model@q')).toEqual(['quick'])
    expect(bash('assay test --target chromium:webgpu-', "COMP_WORDBREAKS=' '")).toEqual(['chromium:webgpu-jsep'])
  })

  test('names that a shell would obey are quoted', () => {
    const offered = bash('assay test -t it')
    expect(offered).toHaveLength(1)
    const [word] = shell('bash', ['-c', 'eval "printf %s $LINE"'], offered[0]!)
    expect(word).toBe('it\\$\\(touch hacked\\)s/full_model@quick')
    expect(shell('ls', [folder], '')).not.toContain('hacked')
  })
})

describeWith('shell', has('fish'), 'in fish', () => {
  const fish = (line: string) =>
    shell('fish', ['--no-config', '-c', 'assay completion fish | source; complete -C "$LINE"'], line)

  test.each([
    ['assay test --layer-i', /^--layer-inputs\treference: /],
    ['assay test --target ort:cpu,thr', /^ort:cpu,threads=$/],
    ['assay test nets/a', /^nets\/a\.onnx$/],
    ['assay test -k a/f', /^a\/full_model@quick$/],
  ])('%j is completed', (line, expected) => {
    expect(fish(line)).toEqual([expect.stringMatching(expected)])
  })
})

/** zsh completes on a terminal only: one of its own types the line, presses Tab and prints what stands there. */
const ZSH = `zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner "PS1=; autoload -U compinit; compinit -u -D; source <(assay completion zsh); bindkey '^Y' tell; tell() { print -r -- \\"<\\$BUFFER>\\" > answer; exit }; zle -N tell; print ready > ready"
repeat 300 { [[ -e ready ]] && break; sleep 0.1 }
zpty -w -n inner "$LINE"$'\\t\\x19'
repeat 300 { [[ -s answer ]] && break; sleep 0.1 }
cat answer; rm -f answer ready`

describeWith('shell', has('zsh'), 'in zsh', () => {
  test.each([
    ['assay te', '<assay test >'],
    ['assay test --layer-i', '<assay test --layer-inputs >'],
    ['assay test --target chromium:webgpu-', '<assay test --target chromium:webgpu-jsep >'],
    ['assay test --target ort:cpu,thr', '<assay test --target ort:cpu,threads=>'],
    ['assay test nets/a', '<assay test nets/a.onnx >'],
    ['assay test -k a/f', '<assay test -k a/full_model@quick >'],
  ])('%j becomes %j', (line, expected) => {
    expect(shell('zsh', ['-f', '-c', ZSH], line)).toEqual([expected])
  })
})

describe('assay completion', () => {
  test('of a shell that it does not know says which it does', async () => {
    const { code, stderr } = await assay(['completion', 'bahs'], folder)
    const none = await assay(['completion'], folder)
    expect([none.code, none.stderr]).toEqual([4, 'assay: no shell given; use one of bash, zsh, fish\n'])
    expect([code, stderr]).toEqual([4, 'assay: unknown shell "bahs"; did you mean "bash"?\n'])
  })

  test('is not shown in the help as the shell asks for it, and asks in peace', async () => {
    expect((await assay(['--help'], folder)).stdout).not.toContain('__complete')
    const { code, stdout, stderr } = await assay(['__complete', '--', '--vers'], folder, { ASSAY_TAGRET: 'x' })
    expect([code, stdout, stderr]).toEqual([0, '--version\t\n:words\n', ''])
  })
})
