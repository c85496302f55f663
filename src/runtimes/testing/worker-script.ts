import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A program that speaks the worker protocol on its standard streams, opens anything and computes nothing. */
const SCRIPT = `
let rest = Buffer.alloc(0)
let last = 0
const open = new Set()
const answers = {
  hello: () => ({
    protocols: [1], available: true, version: '1', accepts: ['onnx'], dtypes: ['float32'],
    capabilities: { taps: false, decode: false, profile: false }, detail: { pid: String(process.pid) },
  }),
  open: () => {
    open.add(++last)
    return { session: last, inputs: [], outputs: [], detail: { pid: String(process.pid), open: [...open].join(' ') } }
  },
  run: () => ({ durationMs: 0, values: [] }),
  close: ({ session }) => void open.delete(session),
}
function answer({ id, method, params }) {
  const json = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) ?? {} }))
  const head = Buffer.alloc(12)
  head.write('ASY1')
  head.writeUInt32LE(json.length, 4)
  process.stdout.write(Buffer.concat([head, json]))
}
process.stdin.on('data', (piece) => {
  rest = Buffer.concat([rest, piece])
  while (rest.length >= 12) {
    const header = 12 + rest.readUInt32LE(4)
    const end = header + rest.readUInt32LE(8)
    if (rest.length < end) return
    const message = JSON.parse(rest.subarray(12, header))
    rest = rest.subarray(end)
    if (message.id !== undefined) answer(message)
  }
})
`

/** Writes the program into a folder of its own. */
export function writeWorkerScript(): string {
  const path = join(realpathSync(mkdtempSync(join(tmpdir(), 'assay-worker-'))), 'worker.cjs')
  writeFileSync(path, SCRIPT)
  return path
}
