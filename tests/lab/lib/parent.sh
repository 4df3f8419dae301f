# shellcheck shell=bash
# shellcheck disable=SC2154 # dir, parent and purge are set by parse
# Ends a lab when the process it was started for has ended, so that an interrupted test run leaves nothing behind.

# First of all processes, so that no moment is unwatched.
start_watcher() {
  local since arguments
  since=$(start_time "$parent")
  ((since > 0)) || die "--parent $parent: no such process"
  arguments=(--dir "$dir" --parent "$parent.$since")
  [[ $purge == no ]] || arguments+=(--purge)
  spawn "$dir" watcher "$LAB_HOME/lab" watch-parent "${arguments[@]}"
}

# Whether the watcher has begun to end this lab.
abandoned() { [[ -n $parent ]] && gone "$dir" watcher; }

# Unless this very process is the watcher, on its way out.
stop_watcher() {
  [[ $(pid_of "$1" watcher) == "$$" ]] || stop "$1" watcher
}

watch_parent() {
  parse '--dir: --parent: --purge' "$@"
  local arguments=(--dir "$dir")
  [[ $purge == no ]] || arguments+=(--purge)
  while [[ $(start_time "${parent%.*}") == "${parent#*.}" ]]; do
    sleep 0.5
  done
  exec "$LAB_HOME/lab" down "${arguments[@]}"
}

# Prints when the process started, in clock ticks since boot: together with its id that names a process for good.
# Prints 0 for one that has ended, also where nobody has collected its exit status yet.
start_time() {
  local stat fields
  if { stat=$(<"/proc/$1/stat"); } 2>/dev/null; then
    # The program's name, in parentheses, may hold anything; what follows the last one is state, parent, ...
    read -ra fields <<<"${stat##*) }"
    if [[ ${fields[0]} != [ZX] ]]; then
      echo "${fields[19]}"
      return 0
    fi
  fi
  echo 0
}
