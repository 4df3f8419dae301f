# shellcheck shell=bash
# shellcheck disable=SC2154 # dir, parent and purge are set by parse
# Ends a lab when the process it was started for has ended, so that an interrupted test run leaves nothing behind.

# First of all processes, so that no moment is unwatched.
start_watcher() {
  local arguments
  parent_since=$(start_time "$parent")
  [[ -n $parent_since ]] || die "--parent $parent: no such process"
  arguments=(--dir "$dir" --parent "$parent" --since "$parent_since")
  [[ $purge == no ]] || arguments+=(--purge)
  spawn "$dir" watcher "$LAB_HOME/lab" watch-parent "${arguments[@]}"
}

# Whether there was a parent and it has ended.
abandoned() { [[ -n $parent && $(start_time "$parent") != "$parent_since" ]]; }

# Unless this very process is the watcher, on its way out.
stop_watcher() {
  [[ $(pid_of "$1" watcher) == "$$" ]] || stop "$1" watcher
}

watch_parent() {
  parse '--dir: --parent: --since: --purge' "$@"
  local arguments=(--dir "$dir")
  [[ $purge == no ]] || arguments+=(--purge)
  until abandoned; do
    sleep 0.5
  done
  exec "$LAB_HOME/lab" down "${arguments[@]}"
}
