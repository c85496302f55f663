# What Assay does on a board, in plain sh as BusyBox has it. It comes over ssh and is never installed.
# Set before it: lease_name, folder (where we keep things), limit_kib (of kept models), and for a session
# token, owner, name, who, ttl (seconds), start (the text of the program that starts the runner).
set -u
umask 077
LC_ALL=C
export LC_ALL
session=
unborn=

say() { printf '@assay %s\n' "$*"; }

stop() {
  say error "$(printf '%s' "$*" | tr '\n' ' ')"
  exit 1
}

# The board's own clock, one that nobody sets, where there is one.
now() {
  if [ -r /proc/uptime ]; then
    read -r up idle </proc/uptime
    echo "${up%%.*}"
  else
    date +%s
  fi
}

this_boot() { cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo none; }

this_node() { uname -n; }

field() { # folder, name: the first line of a file
  line=
  [ -r "$1/$2" ] && IFS= read -r line <"$1/$2"
  printf '%s\n' "$line"
}

write_field() { # folder, name, text: whole or not at all
  printf '%s\n' "$3" >"$1/.$2" && mv -f "$1/.$2" "$1/$2"
}

number() { # text: 0 where it is none
  case $1 in '' | *[!0-9]*) echo 0 ;; *) echo "$1" ;; esac
}

is_hex() {
  case $1 in '' | *[!0-9a-f]*) return 1 ;; esac
}

settle() { # decides where we keep things; boards that share a home have each their own leases there
  [ -n "$folder" ] || folder=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/assay
  case $folder in
    '~/'*) folder=${HOME:-/tmp}/${folder#??} ;;
    /*) ;;
    *) folder=${HOME:-/tmp}/$folder ;;
  esac
  lease=$folder/leases/$(this_node | tr -c 'A-Za-z0-9.\n-' _).$lease_name
  if [ -e "$folder/leases" ] || [ -L "$folder/leases" ]; then check_places; fi
}

make_places() {
  message=$(mkdir -p "$folder/blobs" "$folder/checked" "$folder/sessions" "$folder/leases" 2>&1 && : >"$folder/sessions/.can-write" 2>&1) ||
    stop "cannot write to $folder on the board ($message); choose another place with folder="
  check_places
}

# Whoever could put a link among the leases would choose which file is written.
check_places() {
  me=$(id -u)
  is_ours "$folder/leases" ||
    stop "$folder/leases on the board is a link, belongs to another account, or can be written by others; remove it, or choose another place with folder="
  open=$(open_folder) || return 0
  stop "other accounts of the board can exchange what lies in $open, so $folder is not safe there; choose another place with folder="
}

is_ours() { # path: a folder of this account that nobody else can write; not all shells have test -O
  # shellcheck disable=SC2046
  set -- $(ls -ldn "$1" 2>/dev/null)
  [ "${3-}" = "$me" ] || return 1
  case $1 in d????[!w]??[!w]*) ;; *) return 1 ;; esac
}

open_folder() { # prints a folder on the way to ours in which others can exchange the next one
  way=$(cd "$folder" && pwd -P) || return 1
  below=$me
  while :; do
    # shellcheck disable=SC2046
    set -- $(ls -ldn "${way:-/}" 2>/dev/null)
    case ${1-} in
      d???????w[tT]*) [ "$below" = 0 ] || [ "$below" = "$me" ] || break ;;
      d???????w*) break ;;
    esac
    below=${3-}
    [ -n "$way" ] || return 1
    way=${way%/*}
  done
  printf '%s\n' "${way:-/}"
}

# Processes

marked() { # token: the processes that were started for it, whatever became of their parents
  grep -ls "ASSAY_SESSION=$1" /proc/[0-9]*/environ 2>/dev/null | sed 's|^/proc/||; s|/environ$||'
}

end_marked() { # token
  is_hex "$1" || return 0
  for pause in 0 0 0 1 1 1; do
    pids=$(marked "$1")
    [ -n "$pids" ] || return 0
    # shellcheck disable=SC2086
    kill -9 $pids 2>/dev/null
    [ $pause = 0 ] || sleep $pause
  done
}

end_group() { # session folder: where /proc does not say what was started for it
  group=$(field "$1" group)
  [ "$(number "$group")" -gt 1 ] && [ "$(field "$1" boot)" = "$(this_boot)" ] && kill -9 "-$group" 2>/dev/null
  rm -f "$1/group"
}

# The lease: a folder that only one can make. Who takes it from somebody first makes the folder "grab" in it, which only one
# can, then looks again whether it is still the one that was meant, ends what its holder left, and only then moves it away.

fill_lease() {
  write_field "$lease" boot "$(this_boot)" && write_field "$lease" "beat.$token" "$(now)" &&
    write_field "$lease" since "$(now)" && write_field "$lease" ttl "$ttl" && write_field "$lease" owner "$owner" &&
    write_field "$lease" name "$name" && write_field "$lease" who "$who" && write_field "$lease" token "$token"
}

look() { # what the lease says
  held_token=$(field "$lease" token)
  held_owner=$(field "$lease" owner)
  held_name=$(field "$lease" name)
  held_who=$(field "$lease" who)
  held_session=$(field "$lease" session)
  held_ttl=$(number "$(field "$lease" ttl)")
  time=$(now)
  held_age=$((time - $(number "$(field "$lease" "beat.$held_token")")))
  held_for=$((time - $(number "$(field "$lease" since)")))
}

is_over() { # the holder is dead or out of reach
  [ "$(field "$lease" boot)" != "$(this_boot)" ] || [ "$held_age" -gt "$held_ttl" ]
}

is_mine() { [ -n "$token" ] && [ "$(field "$lease" token)" = "$token" ]; }

grab() { # token, "over" where it must be over: nobody else can take or keep the lease of that token any more
  if ! mkdir "$lease/grab" 2>/dev/null; then
    [ -d "$lease/grab" ] && drop_old_grab
    return 1
  fi
  write_field "$lease/grab" at "$(now)"
  look
  if [ "$held_token" != "$1" ] || { [ "$2" = over ] && ! is_over; }; then
    rm -rf "$lease/grab"
    return 1
  fi
}

give_back() { # what was grabbed; at once, so that nobody sees a part of it
  away=$lease.$token
  rm -rf "$away"
  mv "$lease" "$away" && rm -rf "$away"
}

drop_old_grab() { # one who died over it is not waited for
  at=$(field "$lease/grab" at)
  [ -n "$at" ] || return 0
  waited=$(($(now) - $(number "$at")))
  if [ "$waited" -gt 20 ] || [ "$waited" -lt 0 ]; then rm -rf "$lease/grab"; fi
}

end_session() { # token, name of its folder here
  end_marked "$1"
  case $2 in
    '' | .* | */*) ;;
    *)
      end_group "$folder/sessions/$2"
      remove_session "$2"
      ;;
  esac
}

remove_session() { # name; under another one first, so that nobody who still writes there can keep it from going
  gone=$folder/sessions/.gone.$1
  mv "$folder/sessions/$1" "$gone" 2>/dev/null
  for pause in 0 1 1; do
    rm -rf "$gone" "$folder/sessions/$1" 2>/dev/null
    [ -e "$gone" ] || [ -e "$folder/sessions/$1" ] || return 0
    sleep $pause
  done
}

take_over() { # "over" where the holder must be dead; then the lease is nobody's
  grab "$held_token" "$1" || return 1
  end_session "$held_token" "$held_session"
  give_back
}

is_free() { # takes the lease away from those who are gone
  [ -d "$lease" ] || return 0
  look
  if [ -z "$held_token" ]; then
    # Somebody is about to take it, or died over that.
    [ -n "$unborn" ] || unborn=$(now)
    [ $(($(now) - unborn)) -gt 10 ] && take_over any
  elif [ "$held_owner" = "$owner" ] && [ "$held_name" = "$name" ]; then
    # One run has one worker here at a time, so this one is what an earlier one left.
    take_over any
  elif is_over; then
    take_over over
  else
    return 1
  fi
}

take() {
  for _ in 1 2 3; do
    message=
    is_free || break
    if message=$(mkdir "$lease" 2>&1); then
      unborn=
      fill_lease 2>/dev/null || stop "cannot write the lease $lease on the board; is its disk full?"
      open_session
      return
    fi
  done
  # Somebody else was faster, or nobody can make it.
  [ -z "$message" ] || [ -d "$lease" ] || stop "cannot make the lease $lease on the board ($message)"
  tell_holder
}

tell_holder() {
  look
  if [ "$held_owner" = "$owner" ] && [ "$held_name" != "$name" ]; then
    say twice "$held_name"
  elif [ -z "$held_token" ]; then
    say unborn 0 0 "somebody who takes it just now"
  elif is_over; then
    say over "$held_age" "$held_for" "$held_who"
  else
    say held "$held_age" "$held_for" "$held_who"
  fi
}

# A session: a folder of its own, removed with all that was started in it.

open_session() {
  drop_leftovers
  session=$(mktemp -d "$folder/sessions/XXXXXXXX" 2>&1) || stop "cannot make a folder on the board ($session)"
  for pair in "token $token" "boot $(this_boot)" "node $(this_node)" "ttl $ttl" "keeper $$" "beat $(now)"; do
    write_field "$session" "${pair%% *}" "${pair#* }"
  done
  mkdir "$session/deploy" "$session/tmp" "$session/models"
  write_field "$lease" session "${session##*/}"
  printf '%s' "$start" >"$session/start"
  {
    printf 'folder=%s\nlimit_kib=%s\nlease=\ntoken=\n' "'$(printf %s "$folder" | sed "s/'/'\\\\''/g")'" "$limit_kib"
    # shellcheck disable=SC2154
    printf '%s\nsession=${0%%/*}\n"$@"\n' "$lib"
  } >"$session/board" || stop "cannot write to $session on the board; is its disk full?"
  watch </dev/null >/dev/null 2>&1 &
  say taken "$session"
}

is_leftover() { # session folder
  [ "$(field "$1" node)" = "$(this_node)" ] || return 1
  [ "$(field "$1" boot)" = "$(this_boot)" ] || return 0
  [ $(($(now) - $(number "$(field "$1" beat)"))) -gt $(($(number "$(field "$1" ttl)") + 30)) ]
}

drop_leftovers() {
  rm -rf "$folder"/sessions/.gone.* 2>/dev/null
  for each in "$folder"/sessions/*; do
    if [ -d "$each" ] && is_leftover "$each"; then end_session "$(field "$each" token)" "${each##*/}"; fi
  done
}

watch() { # ends the session when nobody else can: the keeper was killed, or nothing was heard for too long
  trap '' HUP INT TERM PIPE
  pace=$((ttl / 4))
  [ $pace -ge 1 ] || pace=1
  [ $pace -le 5 ] || pace=5
  while ASSAY_SESSION=$token sleep $pace; do
    [ -d "$session" ] || exit 0
    age=$(($(now) - $(number "$(field "$session" beat)")))
    if [ $age -gt "$ttl" ] || ! kill -0 $$ 2>/dev/null || ! is_mine; then
      kill -9 $$ 2>/dev/null
      finish
      exit 0
    fi
  done
}

finish() {
  end_session "$token" "${session##*/}"
  # The lease goes last: whoever gets the board finds nothing of ours on it.
  if is_mine && grab "$token" any; then give_back; fi
}

beat() {
  write_field "$session" beat "$(now)" 2>/dev/null
  is_mine && write_field "$lease" "beat.$token" "$(now)" 2>/dev/null
  leave_if_lost
}

leave_if_lost() { # somebody has taken the lease, or is about to
  if ! is_mine || [ -d "$lease/grab" ]; then
    end_session "$token" "${session##*/}"
    say lost
    exit 0
  fi
}

tell_exit() {
  leave_if_lost
  code=$(field "$session" exit)
  [ -n "$code" ] && end_marked "$token"
  say ended "${code:-unknown}"
}

facts() {
  model=
  [ -r /proc/device-tree/model ] && model=$(tr -d '\000' </proc/device-tree/model)
  printf '%s\n' "$(this_node) · $(uname -srm)${model:+ · $model}"
}

keep() { # reads what to do, line by line, until the connection ends
  trap '' HUP PIPE
  settle
  make_places
  find_digester
  say ready "$(facts)"
  while IFS= read -r word; do
    case $word in
      take) take ;;
      beat) beat ;;
      ended) tell_exit ;;
      end) break ;;
    esac
  done
  [ -z "$session" ] || finish
  say bye
}

# Files by content

find_digester() {
  if command -v sha256sum >/dev/null 2>&1; then
    digester='sha256sum'
  elif busybox sha256sum </dev/null >/dev/null 2>&1; then
    digester='busybox sha256sum'
  elif command -v shasum >/dev/null 2>&1; then
    digester='shasum -a 256'
  elif command -v openssl >/dev/null 2>&1; then
    digester='openssl dgst -sha256 -r'
  else
    stop 'the board has none of sha256sum, busybox, shasum and openssl, so what is sent to it cannot be checked; install one of them there'
  fi
}

digest_of() {
  find_digester
  $digester <"$1" | cut -c 1-64
}

has() { # digest; what a power failure left is looked at again
  blob=$folder/blobs/$1
  if [ -f "$blob" ] && [ "$(field "$folder/checked" "$1")" != "$(this_boot)" ]; then
    if [ "$(digest_of "$blob")" = "$1" ]; then write_field "$folder/checked" "$1" "$(this_boot)"; else rm -f "$blob"; fi
  fi
  [ -f "$blob" ] || {
    say has no
    return
  }
  use "$1"
  say has yes
}

use() { # digest: it is not removed while this session lasts
  touch "$folder/blobs/$1"
  printf '%s\n' "$1" >>"$session/used"
}

free_kib() {
  # shellcheck disable=SC2046
  set -- $(df -Pk "$folder" | tail -n 1)
  number "$4"
}

kib_of() { # file or folder
  # shellcheck disable=SC2046
  set -- $(du -sk "$1" 2>/dev/null)
  number "${1:-}"
}

make_room() { # bytes: what was used longest ago goes first
  need=$(($1 / 1024 + 1024))
  for each in $(ls -tr "$folder/blobs"); do
    [ "$(free_kib)" -ge $need ] && [ $(($(kib_of "$folder/blobs") + need)) -le "$limit_kib" ] && return
    grep -qs "^$each\$" "$session/used" || rm -f "$folder/blobs/$each" "$folder/checked/$each"
  done
  found=$(free_kib)
  [ "$found" -ge $need ] || stop "the board's disk is full: $1 bytes do not fit into $folder, where $((found / 1024)) MiB are free"
}

put() { # digest, bytes; the content comes on standard input
  make_room "$2"
  incoming=$session/incoming
  if ! message=$({ cat >"$incoming"; } 2>&1); then
    rm -f "$incoming"
    stop "the board could not write $2 bytes to $folder ($message)"
  fi
  found=$(digest_of "$incoming")
  if [ "$found" != "$1" ]; then
    rm -f "$incoming"
    stop "what arrived on the board is not what was sent: its sha256 is ${found:-unknown}, expected $1"
  fi
  chmod 400 "$incoming" && mv -f "$incoming" "$folder/blobs/$1" && write_field "$folder/checked" "$1" "$(this_boot)" ||
    stop "the board could not keep $2 bytes in $folder"
  use "$1"
  say put
}

place() { # folders to remove (a word), new folder, then pairs of digest and path in it
  for each in $1; do rm -rf "$session/models/$each"; done
  models=$session/models/$2
  shift 2
  pairs=$#
  while [ $# -gt 0 ]; do
    blob=$folder/blobs/$1 file=$models/$2
    [ -f "$blob" ] || stop "the board no longer has what was sent to it ($1)"
    mkdir -p "${file%/*}" 2>/dev/null
    # Runtimes refuse external data behind links, because that is how a model reads what it should not.
    if [ $pairs -eq 2 ]; then
      ln "$blob" "$file" 2>/dev/null || ln -s "$blob" "$file" 2>/dev/null || copy "$blob" "$file"
    else
      copy "$blob" "$file"
    fi
    shift 2
  done
  say placed "$models"
}

copy() {
  message=$(cp "$1" "$2" 2>&1) || stop "the board could not copy the model to $2 ($message)"
}

deploy_file() { # digest, name
  copy "$folder/blobs/$1" "$session/deploy/$2"
  chmod 700 "$session/deploy/$2"
  say deployed
}

deploy_folder() { # digest
  message=$(cd "$session/deploy" && tar -xf "$folder/blobs/$1" 2>&1) || stop "the board could not unpack what was deployed ($message)"
  say deployed
}

serve() { # commands, a line each, all of them ours
  while IFS= read -r command; do (eval "$command"); done
}

# assay boards

report() {
  settle
  say facts "$(facts)"
  say folder "$folder"
  if [ -d "$lease" ]; then
    look
    state=held
    is_over && state=over
    say lease "$state" "$held_age" "$held_for" "$held_ttl" "$held_who"
  else
    say lease free
  fi
  [ -d "$folder/sessions" ] || return 0
  for each in "$folder"/sessions/*; do
    if [ -d "$each" ] && is_leftover "$each"; then say leftover "$(kib_of "$each")" "${each##*/}"; fi
  done
  # shellcheck disable=SC2046
  set -- $(ls "$folder/blobs")
  say blobs $# "$(kib_of "$folder/blobs")" "$(free_kib)"
}

free_lease() { # "force", or "" for one that is over or held by $who
  settle
  if [ ! -d "$lease" ]; then
    say freed nothing
  else
    look
    mode=any
    [ "$1" = force ] && rm -rf "$lease/grab"
    if [ "$1" != force ] && [ "${held_who%% (*}" != "$who" ]; then mode=over; fi
    if [ $mode = over ] && ! is_over; then
      say refused "$held_age" "$held_for" "$held_who"
      return
    fi
    take_over $mode || stop "the lease $lease could not be taken away; is it another user's on the board?"
    say freed "$held_age" "$held_for" "$held_who"
  fi
  count=0
  for each in "$folder"/sessions/*; do
    if [ -d "$each" ] && is_leftover "$each"; then
      end_session "$(field "$each" token)" "${each##*/}"
      count=$((count + 1))
    fi
  done
  say removed $count
}

clean() {
  settle
  if [ -d "$lease" ]; then
    look
    if ! is_over; then
      say refused "$held_age" "$held_for" "$held_who"
      return
    fi
  fi
  size=$(kib_of "$folder/blobs")
  rm -rf "$folder/blobs" "$folder/checked"
  say cleaned "$size"
}
