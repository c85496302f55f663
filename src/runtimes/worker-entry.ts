import { fileURLToPath } from 'node:url'

/** The compiled file that a worker process starts with; under a test runner this module itself is source. */
export function workerEntry(file: string): string {
  const isSource = import.meta.url.endsWith('.ts')
  return fileURLToPath(new URL(isSource ? `../../dist/runtimes/${file}` : file, import.meta.url))
}
