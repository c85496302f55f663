import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'

const NOBODY = 65534

/** What another user of the machine got hold of. */
export interface Loot {
  readonly looks: number
  /** Command lines of ours with a secret in them. */
  readonly tokens: readonly string[]
  /** Files and folders of ours in the temporary folder that could be read. */
  readonly files: readonly string[]
  /** Ports of ours, with what they answered to anything but a refusal. */
  readonly connections: readonly string[]
}

/** Looks around as often as it can until it is told to tell; run by a user who has no part in the work. */
const SPY = String.raw`
const { readdirSync, readFileSync, openSync, closeSync, lstatSync } = require('node:fs')
const { join } = require('node:path')
const net = require('node:net')
const temporary = process.argv[1]
const [tokens, files, connections, tried] = [new Set(), new Set(), new Set(), new Set()]
let looks = 0
let roots = []
const attempt = (work) => { try { return work() } catch { return null } }
function lookAtProcesses() {
  const parents = new Map()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = attempt(() => readFileSync('/proc/' + pid + '/stat', 'utf8'))
    if (stat) parents.set(Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
  }
  const isOurs = (pid) => roots.includes(pid) || (parents.has(pid) && isOurs(parents.get(pid)))
  for (const pid of parents.keys()) {
    const words = (isOurs(pid) && attempt(() => readFileSync('/proc/' + pid + '/cmdline', 'utf8'))) || ''
    if (/[0-9a-f]{32}/.test(words)) tokens.add(words.replaceAll('\0', ' ').slice(0, 400))
  }
}
function lookAtFiles(folder) {
  for (const name of attempt(() => readdirSync(folder)) ?? []) {
    const path = join(folder, name)
    const facts = attempt(() => lstatSync(path))
    if (!facts || facts.uid === process.getuid()) continue
    const seen = attempt(() => facts.isDirectory() ? readdirSync(path) : facts.isFile() ? closeSync(openSync(path)) ?? 1 : null)
    if (seen !== null) files.add(path)
    if (facts.isDirectory()) lookAtFiles(path)
  }
}
function tryPort(port, token) {
  const host = 'Host: 127.0.0.1:' + port + '\r\n'
  const upgrade = 'Origin: http://127.0.0.1:' + port + '\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nConnection: Upgrade\r\n'
  const asks = ['GET / HTTP/1.1\r\n' + host, 'GET /page.json HTTP/1.1\r\n' + host, 'GET /?token=' + token + ' HTTP/1.1\r\n' + host, 'GET /worker?token=' + token + ' HTTP/1.1\r\n' + host + upgrade]
  return Promise.all(asks.map((ask) => new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(ask + '\r\n'))
    socket.once('data', (answer) => {
      const [first] = String(answer).split('\r\n')
      if (!first.includes(' 403 ')) connections.add(port + ': ' + first)
      socket.destroy()
    })
    socket.on('error', resolve).on('close', resolve)
  })))
}
const pending = []
function obey(line) {
  const order = JSON.parse(line)
  if (order.roots) roots = order.roots
  if (order.port && !tried.has(order.port)) { tried.add(order.port); pending.push(tryPort(order.port, order.token)) }
  if (order.tell) Promise.all(pending).then(() => {
    console.log(JSON.stringify({ looks, tokens: [...tokens], files: [...files], connections: [...connections] }))
    process.exit()
  })
}
require('node:readline').createInterface({ input: process.stdin }).on('line', obey).on('close', () => process.exit())
const look = () => { looks++; lookAtProcesses(); lookAtFiles(temporary); setTimeout(look, 5) }
look()
`

/** Another user, who looks around beside the runs of this one. */
export class OtherUser {
  readonly #process: ChildProcess

  constructor(temporary: string) {
    const asOther = { uid: NOBODY, gid: NOBODY, cwd: '/', env: {} }
    this.#process = spawn(process.execPath, ['-e', SPY, temporary], { stdio: ['pipe', 'pipe', 'inherit'], ...asOther })
  }

  /** Looks at these processes and all below them. */
  watch(roots: readonly number[]): void {
    this.#order({ roots })
  }

  tryPort(port: number, token: string): void {
    this.#order({ port, token })
  }

  tell(): Promise<Loot> {
    const lines = createInterface({ input: this.#process.stdout! })
    const told = new Promise<Loot>((resolve) => lines.once('line', (line) => resolve(JSON.parse(line) as Loot)))
    this.#order({ tell: true })
    return told
  }

  #order(order: object): void {
    this.#process.stdin!.write(`${JSON.stringify(order)}\n`)
  }
}

/** Ports on which these processes listen, which only their own user and root can know. */
export function portsOf(pids: readonly number[]): number[] {
  const sockets = new Set(pids.flatMap(socketsOf))
  const lines = readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1)
  const fields = lines.map((line) => line.trim().split(/ +/))
  const listening = fields.filter((line) => line[3] === '0A' && sockets.has(line[9]!))
  return listening.map((line) => Number.parseInt(line[1]!.split(':')[1]!, 16))
}

function socketsOf(pid: number): string[] {
  try {
    const files = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
    return files.flatMap((file) => /^socket:\[(\d+)\]$/.exec(file)?.[1] ?? [])
  } catch {
    return []
  }
}
