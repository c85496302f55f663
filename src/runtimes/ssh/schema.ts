import { parseSeconds } from '../../domain/duration.ts'
import { UsageError } from '../../domain/errors.ts'
import { HARDWARE_KEYS, type Target } from '../../domain/target.ts'
import { cleanText } from '../../domain/text.ts'
import type { RuntimeSchema } from '../contract.ts'
import { parseAddress } from './address.ts'

const LEAST_TTL_SECONDS = 2
const MOST_TTL_SECONDS = 3600

export const SSH_SCHEMA: RuntimeSchema = {
  defaultDevice: '',
  openDevice: true,
  address: true,
  hardware: HARDWARE_KEYS,
  options: {
    port: null,
    program: null,
    arg: null,
    deploy: null,
    env: null,
    identity: null,
    'known-hosts': null,
    folder: null,
    lease: 'board',
    ttl: '60s',
    wait: '10min',
    start: null,
    compile: null,
    run: null,
  },
  durations: ['ttl', 'start', 'compile', 'run'],
  check: checkSshTarget,
}

function checkSshTarget({ device, options }: Target): void {
  if (device !== '') parseAddress(device)
  for (const [option, value] of Object.entries(options)) checkText(option, value)
  checkPort(options.port)
  checkTimes(options)
  for (const entry of options.env?.split(',') ?? []) checkVariable(entry)
  if (options.lease !== undefined && !/^[A-Za-z0-9_][\w.-]{0,39}$/.test(options.lease)) {
    throw refused(`lease=${options.lease}`, 'a short name of letters, digits, ".", "-" and "_"')
  }
  if (options.program === undefined && options.deploy === undefined) {
    throw new UsageError(
      'target',
      'an ssh target must say what to run on the board: program=<name there>, deploy=<file to send>, or both',
    )
  }
  if (/^-|^$/.test(options.program ?? 'x')) throw refused(`program=${options.program}`, 'the name or path of a program')
}

/** They travel inside single quotes, which hold everything but what ends a line or a text. */
function checkText(option: string, value: string): void {
  const found = /[\u0000-\u001f\u007f]/.exec(value)
  if (!found) return
  const character = JSON.stringify(found[0]).slice(1, -1)
  throw refused(`${option}=${cleanText(value, 100)}`, `no control characters; it has ${character}`)
}

function checkPort(port: string | undefined): void {
  const isPort = port === undefined || (/^[1-9]\d{0,4}$/.test(port) && Number(port) < 65536)
  if (!isPort) throw refused(`port=${port}`, 'a number from 1 to 65535')
}

function checkTimes({ ttl, wait }: Target['options']): void {
  const seconds = parseSeconds(ttl ?? SSH_SCHEMA.options.ttl!)!
  if (seconds < LEAST_TTL_SECONDS || seconds > MOST_TTL_SECONDS) {
    throw refused(`ttl=${ttl}`, `${LEAST_TTL_SECONDS}s to ${MOST_TTL_SECONDS}s`)
  }
  if (wait !== undefined && parseSeconds(wait) === null) throw refused(`wait=${wait}`, 'a time such as 0, 20s or 10min')
}

function checkVariable(entry: string): void {
  if (/^[A-Za-z_]\w*(=.*)?$/s.test(entry)) return
  throw refused(`env=${entry.replace(/=.*/s, '=…')}`, 'NAME=value, or NAME to pass its value from here')
}

function refused(found: string, expected: string): UsageError {
  return new UsageError('target', `${cleanText(found, 120)} of an ssh target; expected ${expected}`)
}
