// Stands for a compiler and its runner that fail in the way that the first argument names.
//   compile <how> <model> <artifact>    run <how> <artifact> <input…> -- <output…>
import { spawn } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'

const [stage, how, ...rest] = process.argv.slice(2)
const hang = () => setInterval(() => {}, 1000)

function npy(descr, shape, bytes) {
  const dict = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.map((dim) => `${dim},`).join('')}), }`
  const header = Buffer.alloc(128, 0x20)
  header.write('\x93NUMPY\x01\x00', 'latin1')
  header.writeUInt16LE(118, 8)
  header.write(dict, 10)
  header[127] = 0x0a
  return Buffer.concat([header, bytes])
}

/** y = the tensor of a safetensors file whose only one is x. */
function renamed(from, to) {
  const file = readFileSync(from)
  const length = Number(file.readBigUInt64LE())
  const { x } = JSON.parse(file.subarray(8, 8 + length).toString())
  const header = Buffer.from(JSON.stringify({ y: x }))
  const prefix = Buffer.alloc(8)
  prefix.writeBigUInt64LE(BigInt(header.length))
  writeFileSync(to, Buffer.concat([prefix, header, file.subarray(8 + length)]))
}

const COMPILE = {
  fails() {
    console.log('lowering MatMul …')
    console.error('error: MatMul of 5 dimensions is not supported')
    console.error('1 pass failed')
    process.exitCode = 3
  },
  dies: () => process.kill(process.pid, 'SIGSEGV'),
  // With a child of its own, which must not stay behind.
  hangs() {
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    hang()
  },
  'no-artifact': () => {},
  'empty-artifact': (_model, artifact) => writeFileSync(artifact, ''),
  async floods() {
    const print = (stream, text) => new Promise((done) => stream.write(text, done))
    const line = `${'chatter '.repeat(127)}chatter\n`
    await print(process.stderr, 'the first words\n')
    for (let i = 0; i < 100; i++) await print(process.stdout, line.repeat(1024))
    await print(process.stderr, 'the last words\n')
    process.exitCode = 1
  },
  'keeps-pipes': (_model, artifact) => {
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600000)'], { stdio: 'inherit', detached: true })
    child.unref()
    writeFileSync(process.env.MARK, String(child.pid))
    writeFileSync(artifact, 'compiled')
  },
}

const RUN = {
  'wrong-shape': (outputs) => writeFileSync(outputs[0], npy('<f4', [3, 2], Buffer.alloc(24))),
  'wrong-dtype': (outputs) => writeFileSync(outputs[0], npy('<f8', [2, 3], Buffer.alloc(48))),
  'no-output': () => {},
  garbage: (outputs) => writeFileSync(outputs[0], 'Segmentation fault'),
  'cut-off': (outputs) => writeFileSync(outputs[0], npy('<f4', [2, 3], Buffer.alloc(20))),
  'raw-short': (outputs) => writeFileSync(outputs[0], Buffer.alloc(20)),
  'run-fails': () => {
    console.error('device lost')
    process.exitCode = 7
  },
  'run-hangs': hang,
  copies: ([output], [input]) => copyFileSync(input, output),
  renames: ([output], [input]) => renamed(input, output),
}

if (stage === 'compile') {
  const [model, artifact] = rest
  if (COMPILE[how]) COMPILE[how](model, artifact)
  else writeFileSync(artifact, 'compiled')
} else {
  const [, ...files] = rest
  const middle = files.indexOf('--')
  RUN[how](files.slice(middle + 1), files.slice(0, middle))
}
