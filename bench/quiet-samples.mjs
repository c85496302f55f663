// Timings on a machine that others use too: waits for a quiet moment and repeats a sample that others disturbed.
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** Busy and idle time of all cores in ms; null where the system does not tell. */
function coreTimes() {
  try {
    const [user, nice, system, idle, wait, irq, soft, steal] = readFileSync('/proc/stat', 'utf8')
      .split('\n')[0]
      .split(/\s+/)
      .slice(1)
      .map(Number)
    return { busy: (user + nice + system + irq + soft + steal) * 10, idle: (idle + wait) * 10 }
  } catch {
    return null
  }
}

async function waitForQuiet(limitMs) {
  for (const end = performance.now() + limitMs; performance.now() < end; ) {
    const before = coreTimes()
    if (!before) return
    await setTimeout(200)
    const after = coreTimes()
    if ((after.busy - before.busy) / (after.busy + after.idle - before.busy - before.idle) < 0.12) return
  }
}

/** `run` gives { ms, cpuMs }; a sample counts as quiet if others used less than a tenth of the machine meanwhile. */
export async function quietSample(run, { waitMs = 4_000, tries = 3 } = {}) {
  let best = null
  for (let i = 0; i < tries; i++) {
    await waitForQuiet(waitMs)
    const before = coreTimes()
    const sample = await run()
    const after = coreTimes()
    const all = before ? after.busy + after.idle - before.busy - before.idle : 1
    const foreign = before ? Math.max(0, after.busy - before.busy - sample.cpuMs) / Math.max(1, all) : 0
    if (!best || foreign < best.foreign) best = { ...sample, foreign }
    if (foreign < 0.1) break
  }
  return best
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2
}
