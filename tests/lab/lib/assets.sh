# shellcheck shell=bash
# shellcheck disable=SC2154 # LAB_HOME is set by the script that uses this
# Where etcd, kube-apiserver, kube-controller-manager, and what a node needs, come from.

# Prints the folder, after making sure that it is complete.
assets_folder() {
  if [[ -n ${KUBEBUILDER_ASSETS:-} ]]; then
    given_assets "$KUBEBUILDER_ASSETS"
  else
    built_assets
  fi
}

# The envtest convention: whoever names a folder gets exactly those binaries, or an error, but never a silent
# ten-minute build of others.
given_assets() {
  local folder=$1 program
  for program in etcd kube-apiserver; do
    [[ -x $folder/$program ]] ||
      die "KUBEBUILDER_ASSETS=$folder has no $program; unset it to build Kubernetes $KUBERNETES_VERSION from source"
  done
  if ! controller_manager_in "$folder" >/dev/null; then
    say "no kube-controller-manager in $folder or on PATH: no garbage collection, no Deployment controller"
  fi
  echo "$folder"
}

built_assets() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/covergence/kubernetes-$KUBERNETES_VERSION
  if ! complete_assets "$folder"; then
    mkdir -p "${folder%/*}"
    say "building Kubernetes $KUBERNETES_VERSION from source into $folder (once; six to ten minutes on two cores)"
    # Everybody who comes meanwhile waits here, and finds it built. The lock is flock's own (-o), so no child of an
    # interrupted build can keep it.
    flock -o "$folder.lock" "$LAB_HOME/build-kubernetes" "$folder" >&2
    complete_assets "$folder" || die "the build left $folder incomplete"
  fi
  echo "$folder"
}

complete_assets() {
  local program
  for program in etcd kube-apiserver kube-controller-manager kube-scheduler kubelet; do
    [[ -x $1/$program ]] || return 1
  done
}

# Prints the path, or fails: envtest's own archives do not hold this one.
controller_manager_in() {
  if [[ -x $1/kube-controller-manager ]]; then
    echo "$1/kube-controller-manager"
  else
    command -v kube-controller-manager
  fi
}

# What a node needs beside kubelet: out of packages, never the machine's own.
node_assets_folder() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/covergence/node-bookworm
  if [[ ! -x $folder/bin/containerd ]]; then
    mkdir -p "${folder%/*}"
    flock -o "$folder.lock" "$LAB_HOME/fetch-node" "$folder" >&2
  fi
  echo "$folder"
}
