import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import { gitStates } from './git-state.ts'

const hasGit = spawnSync('git', ['--version']).status === 0

test('a folder without a repository has no state', async () => {
  expect(await gitStates(process.env)(freshFolder())).toBeNull()
})

test('a folder has the commit of its repository, looked at once', async ({ skip }) => {
  skip(!hasGit, 'git is not in PATH')
  const folder = freshFolder()
  const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, encoding: 'utf8' }).trim()
  writeFileSync(join(folder, 'train.py'), '')
  git('init', '--quiet')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '-m', 'good')
  const commit = git('rev-parse', 'HEAD')
  const states = gitStates(process.env)
  expect(await states(folder)).toEqual({ commit, isDirty: false })
  writeFileSync(join(folder, 'train.py'), 'changed')
  expect(await states(folder)).toEqual({ commit, isDirty: false })
  expect(await gitStates(process.env)(folder)).toEqual({ commit, isDirty: true })
})
