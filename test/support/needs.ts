import { describe, test } from 'vitest'

/** What not every machine has, and how to get it. */
export const NEEDS = {
  browser: ['Chromium or Chrome', 'apt-get install chromium'],
  sshd: ['sshd and ssh', 'apt-get install openssh-server openssh-client'],
  engines: [
    'a Python with engines',
    'node dist/cli/main.js setup python, then ASSAY_TEST_PYTHON="$PWD/.assay/python/bin/python3"',
  ],
  python: ['python3', 'apt-get install python3'],
  busybox: ['BusyBox', 'apt-get install busybox'],
  shell: ['bash, zsh or fish', 'apt-get install bash zsh fish'],
  compiler: ['a C++ compiler', 'apt-get install g++'],
  git: ['git', 'apt-get install git'],
  transformers: [
    'transformers.js',
    'npm install @huggingface/transformers elsewhere, ASSAY_TEST_TRANSFORMERS_JS=<there>',
  ],
  linux: ['/proc as Linux has it', 'run on Linux'],
  smallDisk: ['leave to mount a small file system', 'run as root'],
  root: ['leave to act as another user', 'run as root'],
  user: ['a user who may not write everywhere', 'run as another user than root'],
} as const satisfies Record<string, readonly [what: string, how: string]>

export type Need = keyof typeof NEEDS

/** In the title of what is skipped, for whoever counts it. */
export const needTag = (need: Need) => `[needs ${NEEDS[need][0]}]`

/** Tests that are skipped with their reason on a machine that lacks something. */
export function describeWith(need: Need, isHere: boolean, title: string, tests: () => void): void {
  if (isHere) describe(title, tests)
  else describe.skip(`${title} ${needTag(need)}`, tests)
}

/** The same for a single test. */
export function testWith(need: Need, isHere: boolean, title: string, work: () => unknown, timeoutMs?: number): void {
  if (isHere) test(title, work, timeoutMs)
  else test.skip(`${title} ${needTag(need)}`, work, timeoutMs)
}
