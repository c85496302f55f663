// A run of many cases that each give their result at once; prints each when it is in the record.
import { join } from 'node:path'
import { executeRun } from '../../dist.modules/runs/execute/execute.js'
import { countedMs } from './counted-time.mjs'

const [folder, cases] = process.argv.slice(2)
const PASS = {
  verdict: 'pass',
  flags: [],
  coverage: { compared: 1, expected: 1 },
  metrics: [],
  outputs: [],
  worst: [],
  measurements: {},
  reproduce: 'assay test',
}
const suite = {
  name: 'long',
  async *collect() {
    for (let i = 0; i < Number(cases); i++) {
      const parts = { suite: 'long', model: `m${i}`, scope: 'full_model', reference: 'a', target: 'b', affinity: '' }
      yield { id: `case${i}`, ...parts, aliases: [] }
    }
  },
  judge: async () => PASS,
}
await executeRun({
  suites: [suite],
  runsFolder: join(folder, 'runs'),
  cacheFolder: join(folder, 'cache'),
  reporters: [{ onEvent: (event) => event.type === 'case-end' && console.log(`${event.result.id} ${countedMs()}`) }],
  environment: {},
  options: {},
  jobs: 1,
  reproduce: (id) => id,
})
