// Judges a project again and again until it is killed, and prints what each run found. Takes the clock's offset, a
// number of milliseconds, from each line of stdin. `node judge-for-ever.mjs <folder> <argument>…`

import { EventEmitter } from 'node:events'
import { createInterface } from 'node:readline'
import { Readable, Writable } from 'node:stream'
import { run } from '../../dist.modules/cli/program.js'
import { WarmWorkers } from '../../dist.modules/runtimes/host/warm-workers.js'
import { setClock } from './moved-clock.mjs'

const [cwd, ...args] = process.argv.slice(2)
const workers = new WarmWorkers()
createInterface(process.stdin).on('line', (line) => setClock(Number(line)))

class KeptText extends Writable {
  text = ''
  _write(chunk, _encoding, done) {
    this.text += chunk
    done()
  }
}

for (;;) {
  const [stdout, stderr] = [new KeptText(), new KeptText()]
  const env = { PATH: process.env.PATH, HOME: cwd, NO_COLOR: '1' }
  const io = { cwd, env, stdin: Readable.from([]), stdout, stderr, signals: new EventEmitter(), workers }
  const code = await run([...args, '--json'], io)
  process.stdout.write(`${JSON.stringify({ code, report: stdout.text, stderr: stderr.text })}\n`)
}
