import { access, constants, statfs } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { dirname } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { formatBytes } from '../../domain/text.ts'
import type { Finding } from '../../reporters/finding-lines.ts'
import { findProgram } from '../../runtimes/process/find-program.ts'
import { describeEnvironment } from '../environment.ts'
import { neededNode } from '../package-version.ts'

const LITTLE_MEMORY = 2 ** 30
const LITTLE_DISK = 2 * 2 ** 30

export async function examineMachine(assayFolder: string, environment: Environment): Promise<Finding[]> {
  return [node(), machine(), memory(), await disk(assayFolder), npm(environment)]
}

function node(): Finding {
  const needed = neededNode()
  const text = `${process.version}; Assay ${describeEnvironment().assay} needs ${needed} or newer`
  if (isAtLeast(process.versions.node, needed)) return { name: 'node', health: 'good', text }
  return { name: 'node', health: 'broken', text, remedy: 'install a newer Node.js: https://nodejs.org' }
}

/** Both as `20.19.1`; missing parts are 0. */
export function isAtLeast(version: string, needed: string): boolean {
  const [found, least] = [version, needed].map((text) => text.split('.').map(Number)) as [number[], number[]]
  const place = [0, 1, 2].find((i) => (found[i] ?? 0) !== (least[i] ?? 0))
  return place === undefined || (found[place] ?? 0) > (least[place] ?? 0)
}

function machine(): Finding {
  const { platform, cpu } = describeEnvironment()
  const usable = availableParallelism()
  return { name: 'machine', health: 'note', text: `${platform} · ${cpu} · ${usable} at once` }
}

/** Of the container where there is a limit. */
function memory(): Finding {
  const limit = process.constrainedMemory()
  const total = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  const free = process.availableMemory()
  const text = `${formatBytes(free)} free of ${formatBytes(total)}`
  if (free >= LITTLE_MEMORY) return { name: 'memory', health: 'good', text }
  return {
    name: 'memory',
    health: 'look',
    text,
    remedy: 'close other programs, or judge fewer cases at once: --jobs 1',
  }
}

async function disk(assayFolder: string): Promise<Finding> {
  const folder = await nearestFolder(assayFolder)
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const text = `${formatBytes(free)} free`
  const isWritable = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!isWritable) {
    const remedy = `mend the permissions of ${folder}, or use --output-dir and --cache-dir`
    return { name: 'disk', health: 'broken', text: `${folder} cannot be written`, remedy }
  }
  if (free >= LITTLE_DISK) return { name: 'disk', health: 'good', text }
  return { name: 'disk', health: 'look', text, remedy: 'assay cache prune --cache-size 1gb, or assay cache clear' }
}

async function nearestFolder(folder: string): Promise<string> {
  const isThere = await access(folder).then(
    () => true,
    () => false,
  )
  return isThere || dirname(folder) === folder ? folder : nearestFolder(dirname(folder))
}

/** Whether there is one at all; whether a registry answers is known when it is asked. */
function npm({ PATH = '', npm_config_offline = '' }: Environment): Finding {
  const found = findProgram('npm', PATH) ?? findProgram('npm.cmd', PATH)
  if (found === null) {
    const remedy = 'install npm, or install the runtimes in the project by other means'
    return { name: 'npm', health: 'look', text: 'not in PATH, so a run cannot install a runtime', remedy }
  }
  const offline = /^(true|1)$/.test(npm_config_offline)
  if (!offline) return { name: 'npm', health: 'good', text: found }
  return { name: 'npm', health: 'look', text: `${found}, told to stay offline`, remedy: 'unset npm_config_offline' }
}
