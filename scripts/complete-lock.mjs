// Adds to package-lock.json the optional packages of other platforms that npm left out because a registry mirror does not
// hold them. `npm ci` refuses a lock without them. Run after every change of dependencies.
import { readFileSync, writeFileSync } from 'node:fs'

const SYSTEMS = {
  android: 'android',
  darwin: 'darwin',
  linux: 'linux',
  win32: 'win32',
  windows: 'win32',
  freebsd: 'freebsd',
  openharmony: 'openharmony',
  sunos: 'sunos',
  aix: 'aix',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
}
const CPUS = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 'ppc64le', 's390x', 'riscv64', 'wasm32', 'loong64', 'mips64el']

function platformOf(name) {
  const words = name.split('/').at(-1).split(/[-.]/)
  const os = words.map((word) => SYSTEMS[word]).find(Boolean)
  const cpu = words.find((word) => CPUS.includes(word))
  return os || cpu ? { ...(cpu && { cpu: [cpu] }), ...(os && { os: [os] }) } : null
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
let added = 0
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const platform = platformOf(name)
    if (lock.packages[`node_modules/${name}`] || lock.packages[`${path}/node_modules/${name}`] || !platform) continue
    if (!/^\d/.test(version)) throw new Error(`${name} of ${path} has no exact version: ${version}`)
    lock.packages[`node_modules/${name}`] = { version, ...platform, dev: true, optional: true }
    added++
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${added} packages of other platforms added`)
