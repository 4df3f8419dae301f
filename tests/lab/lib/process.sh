# shellcheck shell=bash
# Processes of a lab: each has run/NAME.pid, run/NAME.since (when it started) and, to be started again the same way,
# run/NAME.argv.
#
# Every `return` here says its status: a bare one, called from an EXIT trap, returns the status of the failed command.

# spawn DIR NAME PROGRAM ARGUMENT...: in a session of its own, holding nothing of the caller's open. What a lab talks to is
# on this machine.
spawn() {
  local dir=$1 name=$2
  shift 2
  printf '%s\0' "$@" >"$dir/run/$name.argv"
  (
    close_inherited
    unset {http,https,all,no}_proxy {HTTP,HTTPS,ALL,NO}_PROXY
    exec setsid "$@"
  ) </dev/null >>"$dir/log/$name.log" 2>&1 &
  start_time $! >"$dir/run/$name.since"
  echo $! >"$dir/run/$name.pid"
  disown
}

respawn() {
  local dir=$1 name=$2 argv
  mapfile -d '' argv <"$dir/run/$name.argv"
  spawn "$dir" "$name" "${argv[@]}"
}

# A caller may have opened more than the first three (a test runner its pipes, make its job server); who waits for
# their end would wait for the lab's.
close_inherited() {
  local fd
  for fd in "/proc/$BASHPID/fd/"*; do
    fd=${fd##*/}
    ((fd <= 2)) || eval "exec $fd>&-"
  done
}

# Prints the process id if that process is still ours: the kernel uses ids again. (The command line would not do, since
# it is empty while a process executes its program.)
pid_of() {
  local dir=$1 name=$2 pid since
  [[ -r $dir/run/$name.pid ]] || return 1
  pid=$(<"$dir/run/$name.pid")
  since=$(<"$dir/run/$name.since")
  [[ -n $since && $(start_time "$pid") == "$since" ]] || return 1
  echo "$pid"
}

# Prints when the process started, in clock ticks since boot: together with its id that names a process for good. Prints
# nothing for one that has ended, also where nobody has collected its exit status yet.
start_time() {
  local stat fields
  { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 0
  # The program's name, in parentheses, may hold anything; what follows the last one is state, parent, ...
  read -ra fields <<<"${stat##*) }"
  [[ ${fields[0]} == [ZX] ]] || echo "${fields[19]}"
}

running() { pid_of "$1" "$2" >/dev/null; }

gone() { ! running "$1" "$2"; }

# Kills at once: the API server's graceful end takes up to a minute, and SIGKILL loses nothing here, since what etcd and
# the audit log wrote is in the page cache. Only a crash of the machine would lose it, and a lab is not kept.
stop() {
  local dir=$1 name=$2 pid
  if pid=$(pid_of "$dir" "$name"); then
    kill -KILL "$pid" 2>/dev/null || true
    wait_until 10 "$name (pid $pid) is gone" gone "$dir" "$name"
  fi
  rm -f "$dir/run/$name.pid" "$dir/run/$name.since"
}

# --- ports ------------------------------------------------------------------------------------------------------------

# Prints a port that nobody listens on now. Another lab may take it before we do: see start_on_free_port. The range lies
# below the kernel's own choices for outgoing connections.
free_port() {
  local port
  until
    port=$((20000 + SRANDOM % 12000))
    [[ -z $(listener_inode "$port") ]]
  do :; done
  echo "$port"
}

# Prints the inode of the socket that listens on the loopback port (or on all addresses).
listener_inode() {
  local hex
  hex=$(printf '%04X' "$1")
  # A kernel without IPv6 has no tcp6.
  { cat /proc/net/tcp /proc/net/tcp6 2>/dev/null || true; } |
    awk -v port=":$hex" '$4 == "0A" && substr($2, length($2) - 4) == port { print $10; exit }'
}

# Whether that very process listens there: an answer alone could come from another lab that was faster.
listens() {
  local dir=$1 name=$2 port=$3 pid inode
  pid=$(pid_of "$dir" "$name") || return 1
  inode=$(listener_inode "$port")
  [[ -n $inode && -n $(find "/proc/$pid/fd" -lname "socket:\[$inode\]" 2>/dev/null) ]]
}

# start_on_free_port DIR NAME START: calls START until the process listens on $port, a global that START reads.
start_on_free_port() {
  local dir=$1 name=$2 start=$3 attempt
  for attempt in 1 2 3 4 5 6; do
    port=$(free_port)
    : >"$dir/log/$name.log"
    "$start"
    wait_until "$START_SECONDS" "$name listens" listens_or_died "$dir" "$name" || break
    running "$dir" "$name" && return 0
    grep -q 'address already in use' "$dir/log/$name.log" || break
    say "$name: port $port was taken meanwhile, trying another one (attempt $attempt)"
  done
  failed "$dir" "$name"
}

listens_or_died() { listens "$1" "$2" "$port" || gone "$1" "$2"; }

# Shows why, ends what this start began, and exits.
failed() {
  local dir=$1 name=$2
  say "$name did not start; the end of $dir/log/$name.log:"
  tail -n 20 "$dir/log/$name.log" >&2
  exit 1
}
