import { builtFile } from '../files/disk/own-files.ts'

/** The file that a worker process starts with. */
export function workerEntry(file: string): string {
  return builtFile(`runtimes/${file}`)
}
