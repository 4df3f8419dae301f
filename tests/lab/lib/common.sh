# shellcheck shell=bash
# Words, waiting and the programs a lab needs.

# Standard output belongs to answers (a folder, a kubeconfig); everything else is said on standard error.
say() { printf 'lab: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

# wait_until SECONDS WHAT COMMAND...: polls ten times a second. The deadline is generous because the suite may share
# two cores with a compiler.
wait_until() {
  local seconds=$1 what=$2 deadline
  shift 2
  deadline=$((SECONDS + seconds))
  until "$@"; do
    if ((SECONDS >= deadline)); then
      say "gave up after ${seconds}s waiting until $what"
      return 1
    fi
    sleep 0.1
  done
}

# need PROGRAM=PACKAGE...: installs what is missing when root, else names the packages.
need() {
  local pair missing=()
  for pair in "$@"; do
    command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
  done
  ((${#missing[@]} == 0)) && return 0
  if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
    die "missing programs; install these packages first: ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  install_packages "${missing[@]}"
}

install_packages() {
  local log
  log=$(mktemp)
  # A package that is not found most often means that the machine's lists were never fetched.
  if ! apt_install "$@" >"$log" 2>&1 &&
    ! { apt-get update && apt_install "$@"; } >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "cannot install $*; the whole log is $log"
  fi
  rm -f "$log"
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" </dev/null
}
