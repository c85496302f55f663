// One comparison of two files in a process of its own: node bench/kernels-diff.mjs reference target [threads]
import { readFileSync } from 'node:fs'
import { compareFiles } from '../dist.modules/files/parallel/compare-files.js'

const [reference, target, threads] = process.argv.slice(2)
const startedAt = performance.now()
const { verdict, outputs } = await compareFiles(reference, target, threads ? { threads: Number(threads) } : {})
const compareMs = performance.now() - startedAt
// Not resourceUsage().maxRSS, which begins with that of the parent.
const maxRssMb = Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024
const metrics = Object.fromEntries(outputs[0].metrics.map(({ name, value }) => [name, value]))
console.log(JSON.stringify({ verdict, compareMs, maxRssMb, metrics }))
