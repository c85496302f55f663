#!/usr/bin/env node
import { isClosedPipe } from '../reporters/context.ts'
import { run } from './program.ts'

/** If the reader has closed the pipe, the results still decide the exit code. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (!isClosedPipe(error)) throw error
  })
}

const { stdin, stdout, stderr, env } = process
process.exitCode = await run(process.argv.slice(2), {
  cwd: process.cwd(),
  env,
  stdin,
  stdout,
  stderr,
  signals: process,
})
