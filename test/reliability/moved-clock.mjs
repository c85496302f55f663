// A clock that somebody sets: what `Date` says, and the time of boot in /proc/stat, which moves with it.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const RealDate = Date
let offsetMs = 0

export function setClock(byMs) {
  offsetMs = byMs
}

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + offsetMs)
    else super(...args)
  }

  static now() {
    return RealDate.now() + offsetMs
  }
}

const { readFileSync } = fs
fs.readFileSync = (path, ...args) => {
  // As before a start was part of a name: who lives is then told by the clock.
  if (process.env.TELL_LIFE_BY_CLOCK && path === `/proc/${process.pid}/stat`) throw new Error('hidden')
  const found = readFileSync(path, ...args)
  if (path !== '/proc/stat') return found
  return found.replace(/^btime (\d+)/m, (_, seconds) => `btime ${Number(seconds) + Math.round(offsetMs / 1000)}`)
}
syncBuiltinESMExports()
