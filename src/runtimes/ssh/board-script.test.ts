import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/support/events.ts'
import { testWith } from '../../../test/support/needs.ts'
import { boardScript } from './board-script.ts'
import { eachReply, type Reply } from './replies.ts'

const BOOT_ID = '/proc/sys/kernel/random/boot_id'

let folder = ''
let lease = ''
const children: ChildProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "assay it's a board "))
  lease = `unit-${process.pid}-${Math.random().toString(36).slice(2)}`
})

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await removed(folder)
})

/** What was killed may write there once more. */
async function removed(path: string): Promise<void> {
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

const leaseFile = (name: string) => join(folder, 'leases', `${hostname()}.${lease}`, name)

/** A shell that runs the script as a board would, on this machine. */
class Keeper {
  readonly child: ChildProcess
  readonly token: string
  readonly #replies: Reply[] = []
  readonly #waiting: ((reply: Reply) => void)[] = []

  private constructor(token: string) {
    this.token = token
    this.child = spawn('sh', [], { stdio: ['pipe', 'pipe', 'inherit'] })
    children.push(this.child)
    eachReply(this.child.stdout!, (reply) => {
      const first = this.#waiting.shift()
      if (first) first(reply)
      else this.#replies.push(reply)
    })
  }

  static async start(owner: string, name = 'board:22', ttlSeconds = 60): Promise<Keeper> {
    const token = Math.random().toString(16).slice(2).padEnd(12, '0')
    const who = `${owner}@here (process 1)`
    const session = { token, owner, name, who, ttlSeconds, start: 'exit 0' }
    const keeper = new Keeper(token)
    keeper.child.stdin!.write(await boardScript({ lease, folder, session }, 'keep'))
    expect((await keeper.reply()).word).toBe('ready')
    return keeper
  }

  /** What a board says whose folder is not fit for a lease. */
  static async refusal(place = folder): Promise<Reply> {
    const keeper = new Keeper('')
    const session = { token: 'ab', owner: 'anna', name: 'board:22', who: 'anna@here', ttlSeconds: 60, start: '' }
    keeper.child.stdin!.write(await boardScript({ lease, folder: place, session }, 'keep'))
    return keeper.reply()
  }

  say(word: string): void {
    this.child.stdin!.write(`${word}\n`)
  }

  async ask(word: string): Promise<Reply> {
    this.say(word)
    return this.reply()
  }

  reply(): Promise<Reply> {
    const known = this.#replies.shift()
    return known ? Promise.resolve(known) : new Promise((resolve) => this.#waiting.push(resolve))
  }

  async end(): Promise<void> {
    this.child.stdin!.end()
    await new Promise((resolve) => this.child.once('exit', resolve))
  }
}

/** As if its holder had been silent for an hour. */
function expire(token: string): void {
  const beat = leaseFile(`beat.${token}`)
  writeFileSync(beat, `${Number(readFileSync(beat, 'utf8')) - 3600}\n`)
}

describe('the lease on a board', () => {
  test('is taken by one, kept while it beats, and given back at the end', async () => {
    const [a, b] = [await Keeper.start('anna'), await Keeper.start('bob')]
    const taken = await a.ask('take')
    expect(taken).toEqual({ word: 'taken', rest: expect.stringContaining(`${folder}/sessions/`) })
    expect(existsSync(join(taken.rest, 'start'))).toBe(true)
    expect(await b.ask('take')).toEqual({
      word: 'held',
      rest: expect.stringMatching(/^\d+ \d+ anna@here \(process 1\)$/),
    })
    await a.end()
    expect(existsSync(taken.rest)).toBe(false)
    expect((await b.ask('take')).word).toBe('taken')
  })

  test('that is over is stolen by exactly one of many who try at once', async () => {
    const first = await Keeper.start('anna')
    await first.ask('take')
    first.child.kill('SIGSTOP')
    const thieves = await Promise.all(Array.from({ length: 6 }, (_, i) => Keeper.start(`thief${i}`)))
    expire(first.token)
    const replies = await Promise.all(thieves.map((thief) => thief.ask('take')))
    const winners = thieves.filter((_, i) => replies[i]!.word === 'taken')
    expect(winners).toHaveLength(1)
    expect(readFileSync(leaseFile('token'), 'utf8').trim()).toBe(winners[0]!.token)
    expect(readdirSync(join(folder, 'sessions')).filter((name) => !name.startsWith('.'))).toHaveLength(1)
  })

  test('of another cannot be kept or given back with an old token', async () => {
    const [old, next] = [await Keeper.start('anna'), await Keeper.start('bob')]
    await old.ask('take')
    expire(old.token)
    const taken = await next.ask('take')
    expect(taken.word).toBe('taken')
    const beat = readFileSync(leaseFile(`beat.${next.token}`), 'utf8')
    expect((await old.ask('beat')).word).toBe('lost')
    await old.end()
    expect(readFileSync(leaseFile('token'), 'utf8').trim()).toBe(next.token)
    expect(readFileSync(leaseFile(`beat.${next.token}`), 'utf8')).toBe(beat)
    expect(existsSync(join(taken.rest, 'token'))).toBe(true)
  })

  test('that an earlier worker of the same run left is taken over at once; under another name it is pointed out', async () => {
    const [first, again, alias] = [
      await Keeper.start('anna'),
      await Keeper.start('anna'),
      await Keeper.start('anna', 'other:22'),
    ]
    const { rest: left } = await first.ask('take')
    expect(await alias.ask('take')).toEqual({ word: 'twice', rest: 'board:22' })
    expect((await again.ask('take')).word).toBe('taken')
    expect(existsSync(left)).toBe(false)
  })

  test('of a board that was started anew since counts for nothing', async () => {
    const [first, second] = [await Keeper.start('anna'), await Keeper.start('bob')]
    await first.ask('take')
    first.child.kill('SIGKILL')
    writeFileSync(leaseFile('boot'), 'an earlier one\n')
    expect((await second.ask('take')).word).toBe('taken')
  })

  test('whose keeper is killed is given back by the board itself', async () => {
    const keeper = await Keeper.start('anna', 'board:22', 4)
    const { rest: session } = await keeper.ask('take')
    keeper.child.kill('SIGKILL')
    await until(() => !existsSync(session), 'the session is gone')
    await until(() => !existsSync(leaseFile('token')), 'the lease is given back')
  })

  test('names a folder outside of ours and nothing there is touched', async () => {
    const [first, second] = [await Keeper.start('anna'), await Keeper.start('bob')]
    const precious = join(folder, 'precious')
    writeFileSync(precious, 'x')
    utimesSync(precious, 0, 0)
    await first.ask('take')
    writeFileSync(leaseFile('session'), '../precious\n')
    expire(first.token)
    expect((await second.ask('take')).word).toBe('taken')
    expect(existsSync(precious)).toBe(true)
  })
})

describe('where a lease lies', () => {
  const EXCHANGED = expect.stringContaining('other accounts of the board can exchange what lies in')
  const NOT_OURS = expect.stringContaining('is a link, belongs to another account, or can be written by others')
  const leases = () => join(folder, 'leases')

  test('only its account can enter', async () => {
    const keeper = await Keeper.start('anna')
    await keeper.ask('take')
    expect((statSync(leases()).mode & 0o777).toString(8)).toBe('700')
  })

  test('what lies under its name in the temporary folder of the board does not count and is not touched', async () => {
    const planted = `/tmp/assay-lease-${lease}`
    mkdirSync(planted)
    const boot = existsSync(BOOT_ID) ? readFileSync(BOOT_ID, 'utf8') : 'none\n'
    const fields = { token: 'abc', owner: 'eve', name: 'x', who: 'eve', boot, ttl: '1000000000', 'beat.abc': '0' }
    for (const [name, text] of Object.entries(fields)) writeFileSync(join(planted, name), text)
    try {
      const keeper = await Keeper.start('anna')
      expect((await keeper.ask('take')).word).toBe('taken')
      expect(readdirSync(planted).sort()).toEqual(Object.keys(fields).sort())
    } finally {
      rmSync(planted, { recursive: true })
    }
  })

  test('a link is refused, and nothing is written behind it', async () => {
    const other = mkdtempSync(join(tmpdir(), 'assay-other-'))
    symlinkSync(other, leases())
    expect(await Keeper.refusal()).toEqual({ word: 'error', rest: NOT_OURS })
    expect(readdirSync(other)).toEqual([])
  })

  test.each(['777', '770'])('a folder of mode %s is refused', async (mode) => {
    mkdirSync(leases())
    chmodSync(leases(), Number.parseInt(mode, 8))
    expect(await Keeper.refusal()).toEqual({ word: 'error', rest: NOT_OURS })
    expect(readdirSync(leases())).toEqual([])
  })

  testWith('root', process.getuid?.() === 0, 'a folder of another account is refused', async () => {
    mkdirSync(leases(), { mode: 0o700 })
    chownSync(leases(), 65534, 65534)
    expect(await Keeper.refusal()).toEqual({ word: 'error', rest: NOT_OURS })
  })

  test('a folder in one that everybody can write is refused, unless it is sticky', async () => {
    const place = join(folder, 'everybody', 'assay')
    mkdirSync(place, { recursive: true })
    chmodSync(join(folder, 'everybody'), 0o777)
    expect(await Keeper.refusal(place)).toEqual({ word: 'error', rest: EXCHANGED })
    chmodSync(join(folder, 'everybody'), 0o1777)
    expect((await Keeper.refusal(place)).word).toBe('ready')
  })

  testWith('root', process.getuid?.() === 0, 'what another account made in a sticky folder is refused', async () => {
    const place = join(folder, 'everybody', 'theirs', 'assay')
    mkdirSync(place, { recursive: true })
    chmodSync(join(folder, 'everybody'), 0o1777)
    chownSync(join(place, '..'), 65534, 65534)
    expect(await Keeper.refusal(place)).toEqual({ word: 'error', rest: EXCHANGED })
  })
})

test('a session goes although somebody who is not known still writes into its folder', async () => {
  const keeper = await Keeper.start('anna')
  const { rest: session } = await keeper.ask('take')
  const loop = 'while :; do { echo 0 >"$0/exit"; } 2>/dev/null; done'
  for (let i = 0; i < 4; i++) children.push(spawn('sh', ['-c', loop, session], { stdio: 'ignore' }))
  await until(() => existsSync(join(session, 'exit')), 'somebody has written there')
  await keeper.end()
  expect(readdirSync(join(folder, 'sessions')).filter((name) => name !== '.can-write')).toEqual([])
})
