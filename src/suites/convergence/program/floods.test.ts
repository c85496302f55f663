import { expect, test } from 'vitest'
import { type Ran, run, steps } from './testing/run.ts'

const MIB = 2 ** 20

interface Measured extends Ran {
  readonly grownBytes: number
}

/** With how much our own memory grew at most meanwhile. */
async function measured(program: string): Promise<Measured> {
  const before = process.memoryUsage.rss()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 10)
  const ran = await run(program)
  clearInterval(timer)
  return { ...ran, grownBytes: most - before }
}

const PRINT = `
  import { once } from 'node:events'
  const print = async (stream, text) => { if (!stream.write(text)) await once(stream, 'drain') }`

test('100 MB on the other stream disturb nothing, in memory that is bounded', async () => {
  const ran = await measured(`${PRINT}
    for (let step = 0; step < 100; step++) {
      await print(process.stderr, 'noise '.repeat(1000000 / 6).slice(0, 999999) + '\\n')
      await print(process.stdout, 'step ' + step + ' loss 0.5\\n')
    }
    console.error('the end')`)
  expect(ran).toMatchObject({ ending: 'exited', exitCode: 0 })
  expect(steps(ran)).toEqual(Array.from({ length: 100 }, (_, step) => step))
  expect(ran.log.length).toBeLessThan(64 * MIB + 100)
  expect(/\n\[… .* …\]\n/.exec(ran.log)?.[0]).toBe('\n[… 31.4 MiB are left out here …]\n')
  expect(ran.log.slice(-100)).toContain('the end\n')
  expect(ran.warnings).toEqual(['the log file leaves out 31.4 MiB in its middle'])
  expect(ran.grownBytes).toBeLessThan(250 * MIB)
})

test('a line of 200 MB is cut, and those around it are read', async () => {
  const ran = await measured(`${PRINT}
    await print(process.stdout, 'step 1 loss 0.5\\n')
    await print(process.stdout, 'step 2 loss 0.25 ')
    for (let i = 0; i < 200; i++) await print(process.stdout, 'x'.repeat(1000000))
    await print(process.stdout, '\\nstep 3 loss 0.125')`)
  expect(steps(ran)).toEqual([1, 2, 3])
  expect(ran.lines).toBe(3)
  expect(ran.warnings[0]).toBe('1 line was longer than 64 KiB; only the beginning was looked at')
  expect(ran.grownBytes).toBeLessThan(250 * MIB)
})

test('a program that is faster than its patterns has to wait for them, and nothing is lost', async () => {
  const ran = await measured(`${PRINT}
    const rest = ' loss 0.5 ' + 'x'.repeat(80) + '\\n'
    for (let step = 0; step < 300000; step++) await print(process.stdout, 'step ' + step + rest)`)
  expect(ran.events.length).toBe(300_000)
  expect(steps(ran).every((step, index) => step === index)).toBe(true)
  expect(ran.grownBytes).toBeLessThan(400 * MIB)
})

test('two million single bytes take no more memory than others', async () => {
  const ran = await measured(`
    import { writeSync } from 'node:fs'
    for (let step = 0; step < 20000; step++) {
      for (const byte of 'step ' + step + ' loss 0.' + String(step).padStart(88, '0') + '\\n') writeSync(1 + (step % 2), byte)
    }`)
  expect(steps(ran)).toEqual(Array.from({ length: 10_000 }, (_, i) => 2 * i))
  expect(ran.grownBytes).toBeLessThan(250 * MIB)
})
