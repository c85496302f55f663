import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** What a tool prints without ever ending a line is passed on in pieces of this size. */
const LONGEST_LINE = 16 * 1024

/** Gives every line as soon as it is there, and what is left at the end. */
export function eachLine(stream: Readable, take: (line: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  stream.on('data', (part: Buffer) => {
    const lines = (rest + decoder.write(part)).split('\n')
    rest = lines.pop()!
    for (const line of lines) take(line)
    if (rest.length > LONGEST_LINE) {
      take(rest)
      rest = ''
    }
  })
  stream.on('close', () => {
    if (rest !== '') take(rest)
  })
}
