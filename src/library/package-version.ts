import { readFileSync } from 'node:fs'

export function packageVersion(): string {
  return manifest().version
}

/** The oldest Node.js that works, as `20.19`. */
export function neededNode(): string {
  return manifest().engines.node.replace(/^>=/, '')
}

function manifest(): { readonly version: string; readonly engines: { readonly node: string } } {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
}
