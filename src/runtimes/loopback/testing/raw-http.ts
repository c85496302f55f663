import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Sends just these lines to a port of this machine, as no well-behaved client would. */
export function sendLines(
  port: number,
  lines: readonly string[],
  finish: (socket: Socket) => void = () => {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => {
      socket.write([...lines, 'Connection: close', '', ''].join('\r\n'))
      finish(socket)
    })
    socket.setEncoding('latin1').on('data', (piece) => {
      text += piece
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(parse(text)))
  })
}

function parse(text: string): RawAnswer {
  const [head = '', ...body] = text.split('\r\n\r\n')
  const [first = '', ...fields] = head.split('\r\n')
  const headers = fields.map((field) => {
    const [name = '', ...value] = field.split(': ')
    return [name.toLowerCase(), value.join(': ')] as const
  })
  return { status: Number(first.split(' ')[1]), headers: new Map(headers), body: body.join('\r\n\r\n') }
}
