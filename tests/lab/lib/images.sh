# shellcheck shell=bash
# shellcheck disable=SC2154 # LAB_HOME is set by the script that uses this
# Images for the node, kept in ${XDG_CACHE_HOME:-~/.cache}/covergence/images by what they are made from.

# cached_image KIND NAME CONFIG FILL INPUT...: prints the archive of an image; where there is none yet, FILL FOLDER makes its
# files in an empty folder. INPUTs are the files, and folders of files, that it is made from, beside the script itself.
cached_image() {
  local kind=$1 name=$2 config=$3 fill=$4 key out
  shift 4
  key=$(find "$@" "$LAB_HOME/node/$kind-image" "$LAB_HOME/node/pack-image" -type f -print0 | sort -z | xargs -0 cat |
    cat - <(echo "$name $config") | sha256sum | cut -c1-16)
  out=${XDG_CACHE_HOME:-$HOME/.cache}/covergence/images/$kind-$key.tar
  if [[ ! -e $out ]]; then
    root=$(mktemp -d "${TMPDIR:-/tmp}/covergence-image.XXXXXX")
    trap 'rm -rf "$root"' EXIT
    umask 022
    chmod 755 "$root"
    "$fill" "$root" >&2
    "$LAB_HOME/node/pack-image" "$name" "$root" "$out" "$config"
    # Those of what has been changed since then; others may be using their own at this moment.
    find "${out%/*}" -name "$kind-*.tar" -mmin +120 -delete
  fi
  echo "$out"
}
