// Test files of which a run left something out that this machine lacked: node scripts/needing-files.mjs <vitest's JSON report>
import { readFileSync } from 'node:fs'

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const lacked = ({ fullName, status }) => status !== 'passed' && status !== 'failed' && fullName.includes('[needs ')
const files = testResults.filter(({ assertionResults }) => assertionResults.some(lacked))
for (const { name } of files) console.log(name.slice(name.indexOf('/clone/') + '/clone/'.length))
