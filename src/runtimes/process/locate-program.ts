import { statSync } from 'node:fs'
import { basename, delimiter, dirname, resolve } from 'node:path'
import { nearest, suggest } from '../../domain/suggest.ts'
import { listNames } from '../../files/disk/list-names.ts'
import { WorkerFailure } from '../failure.ts'
import { findProgram, isExecutable } from './find-program.ts'

/** The file of a program: a path from `folder` if it has a slash, otherwise looked up in PATH. */
export function locateProgram(program: string, folder: string, path = ''): string {
  const place = /[/\\]/.test(program) ? resolve(folder, program) : findProgram(program, path)
  if (place === null) throw cannotStart(program, notInPath(program, folder, path))
  const problem = problemOf(place)
  if (problem !== null) throw cannotStart(program, problem)
  return place
}

/** The folder that a program works in. */
export function workingFolder(given: string | undefined, folder: string): string {
  const place = resolve(folder, given ?? '.')
  if (!isFolder(place)) throw new WorkerFailure('start', `the working folder ${place} does not exist (cwd=${given})`)
  return place
}

function cannotStart(program: string, why: string): WorkerFailure {
  return new WorkerFailure('start', `cannot start ${program}: ${why}`, { tool: program })
}

function notInPath(program: string, folder: string, path: string): string {
  const folders = path.split(delimiter).filter(Boolean)
  const isBeside = isFolder(folder) && isFile(resolve(folder, program))
  const hint = isBeside ? `; write ./${program} for the one in ${folder}` : similarIn(program, folders)
  return `no program of this name in PATH${folders.length === 0 ? ', which is empty' : ''}${hint}`
}

function problemOf(place: string): string | null {
  if (isFolder(place)) return `${place} is a folder`
  if (!isFile(place)) return `there is no file ${place}${similar(place)}`
  if (isExecutable(place)) return null
  return `${place} is not executable; run chmod +x, or start it with its interpreter, as in python3 ${basename(place)}`
}

function similar(place: string): string {
  const folder = dirname(place)
  return isFolder(folder) ? similarIn(basename(place), [folder]) : `, nor a folder ${folder}`
}

function similarIn(name: string, folders: readonly string[]): string {
  const near = nearest(name, folders.flatMap(listNames))
  return near === null ? '' : `; ${suggest(near)}`
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
