import { execFileSync } from 'node:child_process'
import { type ConfigChange, DEMO_PROGRAM, demoConfig } from '../../src/suites/convergence/testing/demo-training.ts'
import { project } from './assay.ts'

export const MANIFEST = 'storage/demo_convergence_harness_manifest.json'
export const SIDECAR = 'storage/demo_convergence_harness_manifest.assay.json'
export const GATHER = ['converge', '-t', 'tests.yml', '-s', 'storage', '-g']
export const REPLAY = ['converge', '-t', 'tests.yml', '-s', 'storage']

/** A project with the program and its configuration; changes are made to the latter. */
export function trainingProject(...changes: ConfigChange[]): string {
  return project({ 'program.mjs': DEMO_PROGRAM, 'tests.yml': demoConfig(...changes) })
}

/** Commits the program, in a new repository where there is none; gives the commit. */
export function commitTraining(folder: string, message: string): string {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, encoding: 'utf8' }).trim()
  git('init', '--quiet')
  git('add', 'program.mjs')
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  git(...author, 'commit', '--quiet', '--allow-empty', '-m', message)
  return git('rev-parse', 'HEAD')
}
