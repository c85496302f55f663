import { ownManifest } from '../files/disk/own-files.ts'

export function packageVersion(): string {
  return ownManifest().version
}

/** The oldest Node.js that works, as `20.19`. */
export function neededNode(): string {
  return ownManifest().engines.node.replace(/^>=/, '')
}
