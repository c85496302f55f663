// Loaded by `node --import`: counts what the process does with files under one folder, and lets operation n fail, write
// less than it was given, or be the last one. `ASSAY_TEST_IO` holds the plan as JSON, or the process calls `arm` itself.
import fs, { openSync, writeSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { constants } from 'node:os'
import { resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { countTime, passTime } from './counted-time.mjs'
import * as powerCut from './power-cut.mjs'

const { O_CREAT, O_WRONLY, O_RDWR } = fs.constants

/** What each operation does: `opens` and `data` may fall short of room or descriptors, `changes` is seen by others. */
const OPERATIONS = {
  open: { opens: true },
  read: { data: true },
  write: { data: true, changes: true, content: true },
  readFile: { opens: true },
  writeFile: { opens: true, changes: true, content: true },
  appendFile: { opens: true, changes: true, content: true },
  copyFile: { opens: true, changes: true },
  readdir: { opens: true },
  opendir: { opens: true },
  mkdir: { changes: true },
  mkdtemp: { changes: true },
  rename: { changes: true },
  symlink: { changes: true },
  link: { changes: true },
  truncate: { changes: true },
  ftruncate: { changes: true },
  utimes: { changes: true },
  chmod: { changes: true },
  rm: { changes: true },
  rmdir: { changes: true },
  unlink: { changes: true },
  fsync: { syncs: true },
  close: { closes: true },
  stat: {},
  lstat: {},
  fstat: {},
  access: {},
  realpath: {},
  readlink: {},
}
const NEEDS_ROOM = ['write', 'writeFile', 'appendFile', 'copyFile', 'mkdir', 'mkdtemp', 'rename', 'symlink', 'link']

/** The same operation under the names that file handles have for it. */
const HANDLE_NAMES = { truncate: 'ftruncate', stat: 'fstat', sync: 'fsync', datasync: 'fsync', utimes: 'utimes' }

let plan = null
let count = 0
let nested = false
const paths = new Map()
const handles = new WeakMap()

/**
 * `root`: the folder; `at`: number of the operation, from 1; `fault`: a code such as EIO, `short` or `kill`;
 * `writes`: only operations that change something count; `only`: those on paths that end so; `cut`: a `kill` also takes
 * what was not synced; `tickMs`: timers of a second count operations, each as so many milliseconds. Planted bugs, which a job must find:
 * `swallows` failed writes to paths that end so, `forgetsSync`, and `inPlace`: headers are not written beside their place.
 */
export function arm(next) {
  plan = { ...next, log: [], fired: null }
  count = 0
  powerCut.track(plan.cut ? plan.root : null)
  if (plan.tickMs) countTime(plan.tickMs)
}

export function disarm() {
  const done = plan
  plan = null
  return done
}

/** Whether an operation, as the log tells it, can fail in this way. */
export function canFail({ name, creates }, fault) {
  const { opens, data } = OPERATIONS[name]
  if (fault === 'ENOSPC') return NEEDS_ROOM.includes(name) || creates
  if (fault === 'EMFILE') return opens === true
  if (fault === 'short') return data === true
  return true
}

function pathOf(subject) {
  if (typeof subject === 'number') return paths.get(subject)
  if (typeof subject === 'string') return resolve(subject)
  if (subject instanceof URL) return fileURLToPath(subject)
  if (Buffer.isBuffer(subject)) return resolve(String(subject))
  return subject && handles.get(subject)
}

const isUnder = (path, root) => path === root || path.startsWith(root + sep)

/** null: not ours to touch. */
function begin(name, subject, args) {
  if (plan === null || nested) return null
  const path = pathOf(subject)
  if (path === undefined || !isUnder(path, plan.root) || path.includes(`${sep}node_modules`)) return null
  const creates = name === 'open' && createsFile(args[1])
  if (plan.writes && !OPERATIONS[name].changes && !creates) return { path, fault: null }
  if (plan.only && !path.endsWith(plan.only)) return { path, fault: null }
  count++
  if (plan.tickMs) passTime()
  plan.log.push({ name, path, creates })
  const isHit = plan.lasting ? count >= plan.at : count === plan.at
  const fault = isHit && canFail({ name, creates }, plan.fault) ? plan.fault : null
  if (fault) plan.fired = { name, path: path.slice(plan.root.length + 1) }
  return { path, fault }
}

function createsFile(flags = 'r') {
  if (typeof flags === 'number') return (flags & (O_CREAT | O_WRONLY | O_RDWR)) !== 0
  return flags !== 'r' && flags !== 'rs'
}

function failure(code, name, path) {
  const errno = -(constants.errno[code] ?? 5)
  return Object.assign(new Error(`${code}: planted, ${name} '${path}'`), { errno, code, syscall: name, path })
}

/** Ends this process as the power does: nothing that it still wanted to do is done. */
function die(name, args) {
  nested = true
  leaveHalf(name, args)
  if (plan.cut) powerCut.cut(plan.cut)
  process.kill(process.pid, 'SIGKILL')
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
}

/** A write that fails or is the last may have got a part of its bytes to the file. */
function leaveHalf(name, args) {
  if (!OPERATIONS[name].content) return
  const [subject, content, offset = 0, length] = args
  try {
    const all =
      typeof content === 'string'
        ? Buffer.from(content)
        : new Uint8Array(content.buffer, content.byteOffset, content.byteLength)
    if (name !== 'write') return writeHalf(subject, all, args[2]?.flag ?? (name === 'appendFile' ? 'a' : 'w'))
    const part = typeof offset === 'number' ? all.subarray(offset, offset + (length ?? all.length)) : all
    writeSync(subject.fd ?? subject, part.subarray(0, part.length >> 1), 0, undefined, args[4])
  } catch {
    // It could not even be begun.
  }
}

function writeHalf(subject, bytes, flag) {
  const path = pathOf(subject)
  powerCut.willChange(path)
  const descriptor = typeof subject === 'string' ? openSync(path, flag) : (subject.fd ?? subject)
  writeSync(descriptor, bytes.subarray(0, bytes.length >> 1))
  powerCut.didChange(path)
}

/** Half of the bytes of a read or write, by the arguments that all its forms have in common. */
function shortened(args) {
  const [subject, buffer, offset, length, ...rest] = args
  if (typeof buffer === 'string' || !ArrayBuffer.isView(buffer)) return args
  const from = typeof offset === 'number' ? offset : 0
  const all = typeof length === 'number' ? length : buffer.byteLength - from
  return [subject, buffer, from, all > 1 ? all >> 1 : all, ...rest]
}

/** What the operation gets and whether it fails. */
function prepare(name, subject, args) {
  const begun = begin(name, subject, args)
  if (begun === null) return { args }
  const { path, fault } = begun
  if (OPERATIONS[name].changes || (name === 'open' && createsFile(args[1])))
    powerCut.willChange(changedBy(name, args, path))
  if (OPERATIONS[name].syncs && !plan.forgetsSync && !fault) powerCut.didSync(path)
  if (fault === 'kill') die(name, args)
  if (fault === 'short') return { args: shortened(args) }
  if (!fault) return { args }
  if (name === 'write' && plan.swallows && path.endsWith(plan.swallows)) return { swallowed: args[1].byteLength }
  nested = true
  leaveHalf(name, args)
  nested = false
  return { args, error: failure(fault, name, path) }
}

const changedBy = (name, args, path) => (name === 'copyFile' ? resolve(String(args[1])) : path)

function wrapSync(name) {
  const real = fs[`${name}Sync`]
  if (!real) return
  fs[`${name}Sync`] = (...given) => {
    const { args, error, swallowed } = prepare(name, given[0], given)
    if (args === undefined) return swallowed
    // A file that cannot be closed is closed all the same.
    if (error && name !== 'close') throw error
    const outer = nested
    nested = true
    try {
      const result = real.apply(fs, args)
      if (plan) powerCut.didChange(changedBy(name, given, pathOf(given[0])))
      if (name === 'open') paths.set(result, pathOf(given[0]))
      if (name === 'close') paths.delete(given[0])
      if (error) throw error
      return result
    } finally {
      nested = outer
    }
  }
}

function wrapCallback(name) {
  const real = fs[name]
  if (!real || typeof fs[`${name}Sync`] !== 'function') return
  const wrapped = (...given) => {
    const { args, error, swallowed } = prepare(name, given[0], given)
    const done = given.at(-1)
    if (args === undefined) return void setImmediate(done, null, swallowed)
    if (error && name !== 'close') return void setImmediate(done, error)
    args[args.length - 1] = (problem, ...results) => {
      if (name === 'open' && !problem) paths.set(results[0], pathOf(given[0]))
      if (name === 'close') paths.delete(given[0])
      done(error ?? problem, ...results)
    }
    return real.apply(fs, args)
  }
  fs[name] = Object.assign(wrapped, real)
}

const HEADER = /\.run\.json\.\w+\.tmp$/

/** As a program does that knows nothing of renaming. */
function inPlace(name, given) {
  if (!plan?.inPlace || !HEADER.test(String(given[0]))) return given
  const path = String(given[0]).replace(HEADER, 'run.json')
  return name === 'open' ? [path, 'w+'] : [path, path]
}

function wrapPromise(name) {
  const real = promises[name]
  if (!real) return
  promises[name] = async (...asked) => {
    const given = inPlace(name, asked)
    const { args, error, swallowed } = prepare(name, given[0], given)
    if (args === undefined) return swallowed
    if (error) throw error
    const result = await real.apply(promises, args)
    if (plan) powerCut.didChange(changedBy(name, given, pathOf(given[0])))
    if (name === 'open') handles.set(result, pathOf(given[0]))
    return result
  }
}

function wrapHandle(prototype, method) {
  const real = prototype[method]
  const name = HANDLE_NAMES[method] ?? method
  if (!real || !OPERATIONS[name]) return
  prototype[method] = async function (...given) {
    const { args, error, swallowed } = prepare(name, this, [this, ...given])
    if (args === undefined) return swallowed
    if (error && name !== 'close') throw error
    const result = await real.apply(this, args.slice(1))
    if (error) throw error
    return result
  }
}

const handle = await promises.open(fileURLToPath(import.meta.url))
const prototype = Object.getPrototypeOf(handle)
await handle.close()
powerCut.keepRealFunctions()
for (const name of Object.keys(OPERATIONS)) {
  wrapSync(name)
  wrapCallback(name)
  wrapPromise(name)
}
for (const method of [
  'read',
  'write',
  'readFile',
  'writeFile',
  'appendFile',
  'truncate',
  'stat',
  'sync',
  'datasync',
  'close',
])
  wrapHandle(prototype, method)
syncBuiltinESMExports()

if (process.env.ASSAY_TEST_IO) {
  const { log: file, ...ordered } = JSON.parse(process.env.ASSAY_TEST_IO)
  delete process.env.ASSAY_TEST_IO
  arm(ordered)
  if (file) process.on('exit', () => fs.writeFileSync(file, JSON.stringify(disarm().log)))
}
