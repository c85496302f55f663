import type { Parsers } from './contract.ts'
import { serveFuzz } from './serve.ts'

const seed = Buffer.from('{"size":4,"name":"abcd"}')

function parsed(input: Uint8Array): { size?: unknown } {
  try {
    return Object(JSON.parse(Buffer.from(input).toString()))
  } catch {
    return {}
  }
}

/** Readers with bugs that only some inputs reach. */
const PLANTED: Parsers = {
  sound: { kind: 'json', seeds: [seed], read: parsed },
  crashes: {
    kind: 'json',
    seeds: [seed],
    read: (input) => {
      const { size } = parsed(input)
      return typeof size === 'number' && size < 0 ? new Uint8Array(size) : null
    },
  },
  hangs: {
    kind: 'json',
    seeds: [seed],
    read: (input) => {
      for (const { size } = parsed(input); size === 2 ** 53; );
    },
  },
  grows: {
    kind: 'json',
    seeds: [seed],
    read: (input) => {
      const kept: number[][] = []
      for (const { size } = parsed(input); size === 2 ** 31; ) kept.push(new Array(4e6).fill(1.5))
    },
  },
}

serveFuzz(PLANTED)
