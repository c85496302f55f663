import type { ChildProcess } from 'node:child_process'
import { childExit } from './child-exit.ts'
import type { Tail } from './tail.ts'

export interface ToolEnd {
  readonly succeeded: boolean
  /** The end of what it printed, or why it printed nothing. */
  readonly complaint: string
}

/** Waits for a program that does something for us, such as npm; `tail` gets what it has to say. */
export async function waitForTool(child: ChildProcess, tail: Tail): Promise<ToolEnd> {
  const { exitCode, signal, problem } = await childExit(child)
  const how = signal ? `ended by ${signal}` : `exit code ${exitCode}`
  return { succeeded: exitCode === 0, complaint: problem?.message ?? (tail.text().trim() || how) }
}
