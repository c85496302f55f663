import type { ChildProcess, StdioOptions } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/** Chromium takes orders on file descriptor 3, answers on 4, and ends with all its processes when they are closed. */
export const PIPE_FLAGS = ['--remote-debugging-pipe', '--no-startup-window']
export const PIPE_STDIO: StdioOptions = ['ignore', 2, 2, 'pipe', 'pipe']

const END = '\0'

/** Opens an address without naming it on the command line, which everybody can read; resolves with why it is refused, if it is. */
export function openAddress(browser: ChildProcess, url: string): Promise<string> {
  const orders = browser.stdio[3] as Writable
  const answers = browser.stdio[4] as Readable
  // Errors are ignored: the browser's exit is noticed anyway.
  for (const stream of [orders, answers]) stream.on('error', () => {})
  orders.write(`${JSON.stringify({ id: 1, method: 'Target.createTarget', params: { url } })}${END}`)
  return new Promise((resolve) => {
    let text = ''
    answers.setEncoding('utf8').on('data', (part: string) => {
      if (text.includes(END)) return
      text += part
      const [answer, ...others] = text.split(END)
      const refusal = others.length > 0 && refusalIn(answer!)
      if (refusal) resolve(`the browser did not open the page (${refusal})`)
    })
  })
}

function refusalIn(answer: string): string | null {
  const { error } = JSON.parse(answer) as { error?: { message?: string } }
  return error ? (error.message ?? 'no reason given') : null
}
