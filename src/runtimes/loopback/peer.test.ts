import { connect, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { testWith } from '../../../test/support/needs.ts'
import { peerUid, strangerAt } from './peer.ts'

const ENDS = { remoteAddress: '127.0.0.1', remotePort: 0xa6c6, localAddress: '127.0.0.1', localPort: 0x98bf }
const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'
const REST = '01 00000000:00000000 00:00000000 00000000'
const MAPPED = '0000000000000000FFFF0000'

test.each([
  ['its user', `   0: 0100007F:A6C6 0100007F:98BF ${REST}  1000        0 828892 2`, 1000],
  ['root', `   0: 0100007F:A6C6 0100007F:98BF ${REST}     0        0 828892 2`, 0],
  ['its user through IPv6', `   0: ${MAPPED}0100007F:A6C6 ${MAPPED}0100007F:98BF ${REST}   7        0 828 2`, 7],
  ['nobody in our own end', `   0: 0100007F:98BF 0100007F:A6C6 ${REST}  1000        0 828892 2`, null],
  ['nobody in another port', `   0: 0100007F:A6C7 0100007F:98BF ${REST}  1000        0 828892 2`, null],
  ['nobody in another address', `   0: 0200007F:A6C6 0100007F:98BF ${REST}  1000        0 828892 2`, null],
  ['nobody in an end that is closed', `   0: 0100007F:A6C6 0100007F:98BF ${REST}     0        0 0 2`, null],
  ['nobody in a line that was cut', '   0: 0100007F:A6C6 0100007F:98BF 01 0000', null],
])('the list of connections tells %s', (_, line, uid) => {
  expect(peerUid(`${HEAD}${line}\n`, ENDS)).toBe(uid)
})

testWith(
  'linux',
  process.platform === 'linux',
  'a connection of our own is known as such, also through IPv6',
  async () => {
    for (const host of ['127.0.0.1', '::ffff:127.0.0.1']) {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
      const client = connect((server.address() as { port: number }).port, host)
      expect(strangerAt(await accepted)).toBeNull()
      client.destroy()
      server.close()
    }
  },
)
