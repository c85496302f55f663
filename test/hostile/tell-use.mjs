// Loaded before the program: at its end it writes down what it took.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const { HOSTILE_USE: folder } = process.env
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const use = { seconds: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1024 }
  writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(use))
})
