import { readFile } from 'node:fs/promises'
import { ownFile } from '../../files/disk/own-files.ts'

/** Variables of the script; what a board has only one of is leased by name. */
export interface ScriptSettings {
  readonly lease: string
  /** Where the board keeps models and working folders; '' is its own choice. */
  readonly folder: string
  readonly session?: SessionSettings
  /** For freeing: user@host that may free its own. */
  readonly who?: string
  readonly token?: string
}

interface SessionSettings {
  readonly token: string
  readonly owner: string
  /** The board as this run calls it. */
  readonly name: string
  readonly who: string
  readonly ttlSeconds: number
  /** Text of the program that starts the runner. */
  readonly start: string
}

const KEPT_KIB = 4 * 2 ** 20

/** The whole text that `sh` on the board reads: variables, functions, and the one that is called. */
export async function boardScript(settings: ScriptSettings, call: string): Promise<string> {
  const { session, token = session?.token ?? '', who = session?.who ?? '' } = settings
  const variables = {
    lease_name: settings.lease,
    folder: settings.folder,
    limit_kib: String(KEPT_KIB),
    token,
    who,
    owner: session?.owner ?? '',
    name: session?.name ?? '',
    ttl: String(session?.ttlSeconds ?? 0),
    start: session?.start ?? '',
    lib: await readFile(ownFile('workers/ssh/board.sh'), 'utf8'),
  }
  const lines = Object.entries(variables).map(([name, text]) => `${name}=${quoted(text)}`)
  // One line at a time would leave the rest of it in the same pipe as what is said later.
  return `${lines.join('\n')}\neval "$lib"\n${call}\n`
}

/** Taken literally by any POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The program that starts the runner: its environment and words are in here and in no command line. */
export function startScript(
  token: string,
  argv: readonly string[],
  variables: Readonly<Record<string, string>>,
): string {
  const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`)
  return `session=\${0%/*}
cd "$session/deploy" || exit 1
export PATH="$session/deploy:$PATH" TMPDIR="$session/tmp" ASSAY_SESSION=${token}
${exports.join('\n')}
set -- ${argv.map(quoted).join(' ')}
exec 3<&0
printf '@assay begin\\n'
if ! command -v "$1" >/dev/null 2>&1; then
  echo missing >"$session/exit"
  exit 127
fi
if command -v setsid >/dev/null 2>&1; then
  setsid "$@" <&3 3<&- &
  group=$!
else
  "$@" <&3 3<&- &
  group=$$
fi
echo $group >"$session/group"
exec 3<&-
{ wait $!; } 2>/dev/null
code=$?
echo $code 2>/dev/null >"$session/exit"
`
}
