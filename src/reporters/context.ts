/** What a reporter needs of a stream; process.stdout and process.stderr are such. */
export interface TextStream {
  write(text: string, done?: (error?: Error | null) => void): boolean
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export interface ReporterContext {
  /** Paths of reports begin here, and paths in reports are shown from here. */
  readonly cwd: string
  readonly stdout: TextStream
  readonly stderr: TextStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly verbose: boolean
  /** Tools print on the same screen, so nothing may be drawn over. */
  readonly plain?: boolean
  /** `--color` or `--no-color`, where given. */
  readonly color?: boolean
}

/** Resolves when the stream has taken all of the text, or nobody reads it any more. */
export function writeAll(stream: TextStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error && !isClosedPipe(error) ? reject(error) : resolve()))
  })
}

/** A reader such as head went before the end. */
export function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
