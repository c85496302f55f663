export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** Each asks `assay __complete -- words…`, which prints candidates with their help after a tab, and last what the shell itself shall add. */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# Completion of assay for bash. In this shell:   source <(assay completion bash)
# In every new one: add that line to ~/.bashrc.
_assay_completion() {
  local rest="\${COMP_LINE:0:COMP_POINT}" current after candidate help kind='' signs='' sign
  local -a words=()
  rest="\${rest#*"$1"}"
  read -ra words <<<"$rest"
  [[ -z "$rest" || "$rest" == *[[:blank:]] ]] && words+=('')
  current="\${words[\${#words[@]}-1]}"
  # Bash replaces only what follows the last of the signs at which it breaks words; targets and ids hold them.
  for sign in : = @; do [[ "$COMP_WORDBREAKS" == *"$sign"* ]] && signs+="$sign"; done
  after="$current"
  [[ -n "$signs" ]] && after="\${current##*[$signs]}"
  COMPREPLY=()
  while IFS=$'\\t' read -r candidate help; do
    case "$candidate" in
      :files | :folders | :words) kind="$candidate" ;;
      *)
        candidate="\${candidate#"\${current%"$after"}"}"
        [[ "$candidate" == *[!a-zA-Z0-9_./:=@,+%-]* ]] && printf -v candidate %q "$candidate"
        COMPREPLY+=("$candidate")
        ;;
    esac
  done < <("$1" __complete -- "\${words[@]}" 2>/dev/null)
  [[ \${#COMPREPLY[@]} == 1 && "\${COMPREPLY[0]}" == *[:=,/] ]] && compopt -o nospace 2>/dev/null
  case "$kind" in
    :files) compopt -o filenames 2>/dev/null; mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$after") ;;
    :folders) compopt -o filenames 2>/dev/null; mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$after") ;;
  esac
  return 0
}
complete -F _assay_completion assay
`,
  zsh: `#compdef assay
# Completion of assay for zsh. In this shell:   source <(assay completion zsh)
# In every new one: add that line to ~/.zshrc after compinit, or write the script as _assay into a folder of $fpath.
_assay() {
  local line text kind=''
  local -a ends goes_on ends_shown goes_on_shown
  for line in "\${(@f)$("\${(Q)words[1]}" __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    text="\${line%%$'\\t'*}"
    case "$line" in
      :files | :folders | :words) kind="$line" ;;
      *[:=,/]$'\\t'*) goes_on+=("$text") goes_on_shown+=("\${line/$'\\t'/  }") ;;
      ?*) ends+=("$text") ends_shown+=("\${line/$'\\t'/  }") ;;
    esac
  done
  (( $#ends )) && compadd -l -d ends_shown -a ends
  (( $#goes_on )) && compadd -l -S '' -d goes_on_shown -a goes_on
  case "$kind" in
    :files) _files ;;
    :folders) _files -/ ;;
  esac
}
if [[ "$funcstack[1]" == _assay ]]; then _assay "$@"; else compdef _assay assay; fi
`,
  fish: `# Completion of assay for fish. In this shell:   assay completion fish | source
# In every new one:   assay completion fish > ~/.config/fish/completions/assay.fish
function __assay_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    for line in ($program __complete -- $words "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :folders
                __fish_complete_directories "$current"
            case :words
            case '*'
                printf '%s\\n' $line
        end
    end
end
complete -c assay -f -a '(__assay_complete)'
`,
}
