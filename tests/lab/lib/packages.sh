# shellcheck shell=bash
# shellcheck disable=SC2154 # work is set by the script that uses this
# Debian's packages without installing them: fetched with package lists of our own into $work, so no root is needed and the
# machine stays as it is (an installed etcd-server or containerd would start a daemon).

SUITE=bookworm

# make_package_folders: what the rest works with, below $work.
make_package_folders() {
  mkdir -p "$work"/apt/{lists/partial,cache/archives/partial,trusted} "$work"/{packages,root}
  cp /etc/apt/trusted.gpg.d/* /usr/share/keyrings/debian-archive-*.gpg "$work/apt/trusted/" 2>/dev/null || true
}

private_apt() {
  local command=$1
  shift
  "$command" -q -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::Etc::trustedparts="$work/apt/trusted" -o Dir::State::lists="$work/apt/lists" \
    -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

# The mirrors this machine is configured for, whatever their release: Debian's mirrors carry them all.
mirrors() {
  apt-get update --print-uris -o Dir::State::lists="$work/apt/lists" |
    sed -nE "s|^'([^']+)/dists/[^/']+/InRelease'.*|\1|p" | awk '!seen[$0]++'
}

# use_mirror_with COMMAND...: fetches the lists of the first mirror for which the command then succeeds.
use_mirror_with() {
  local mirror
  while read -r mirror; do
    printf 'deb %s %s main\n' "$mirror" "$SUITE" >"$work/apt/sources.list"
    printf 'deb-src %s %s main\n' "$mirror" "$SUITE" >>"$work/apt/sources.list"
    if private_apt apt-get update && "$@"; then
      return 0
    fi
  done < <(mirrors)
  return 1
}

# download PACKAGE...
download() {
  cd "$work/packages"
  private_apt apt-get download "$@"
}

unpack_packages() {
  local package
  for package in "$work"/packages/*.deb; do
    dpkg-deb -x "$package" "$work/root"
  done
}

# step NAME COMMAND...: runs it with its output in a log, which is shown only when it fails.
step() {
  local name=$1
  shift
  say "$name"
  # A subshell of its own, because `set -e` is off inside the condition of an if.
  set +e
  (
    set -e
    "$@"
  ) >"$work/log" 2>&1
  local status=$?
  set -e
  if ((status != 0)); then
    tail -n 40 "$work/log" >&2
    die "step '$name' failed"
  fi
}
