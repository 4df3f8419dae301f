# shellcheck shell=bash
# shellcheck disable=SC2154 # dir and assets are set by up
# The node of a lab: containerd, kubelet and a DNS server in namespaces of their own (mounts, network, processes), whose
# first process is `node`. When that ends, so does everything else of the node; what is then left are its cgroups.
#
# Its network has a number N, which no other lab of this machine has: the interface clabN, 198.18.N.1 for the machine (where
# the API server listens), 198.18.N.2 for the node, and 198.19.N.0/24 for its pods, to which the machine has a route. These
# are addresses for benchmarks (RFC 2544), which nobody routes. The cgroups are below covergence-lab-N.

NODE_NAME=node1
PAUSE_IMAGE=covergence-lab/pause:1

machine_address() { echo "198.18.$1.1"; }
node_address() { echo "198.18.$1.2"; }
cgroup_name() { echo "covergence-lab-$1"; }

# Everything a node needs of the machine, or the reason why it cannot have one.
need_node() {
  local program
  ((EUID == 0)) || die "--node needs root: it makes namespaces, mounts, interfaces and cgroups"
  need unshare=util-linux nsenter=util-linux ip=iproute2 jq=jq cc=gcc
  [[ $dir/ != /run/* && $dir/ != /dev/* ]] || die "--node needs a DIR outside of /run and /dev"
  for program in kubelet kube-scheduler; do
    [[ -x $assets/$program ]] || die "--node needs $program, which is not in $assets"
  done
  node_assets=$(node_assets_folder)
  dns_program=$(built_dns)
  pause_image=$("$LAB_HOME/node/pause-image" "$PAUSE_IMAGE")
}

# Nothing where the build is up to date.
built_dns() {
  local root
  root=$(realpath "$LAB_HOME/../..")
  cargo build --quiet --locked --manifest-path "$root/Cargo.toml" --example lab-dns >&2 ||
    die "cannot build the DNS server of the node"
  echo "${CARGO_TARGET_DIR:-$root/target}/debug/examples/lab-dns"
}

# --- namespaces and network -------------------------------------------------------------------------------------------

# Before the API server, which listens on an address of this network.
start_node() {
  local init
  clean_up_node "$dir" # of one that was killed, with its watcher
  mkdir -p "$dir/node"
  spawn "$dir" node unshare --mount --net --pid --fork --kill-child --propagation slave "$LAB_HOME/node/init" "$dir"
  await node "its namespaces are made" test -s "$dir/run/node.init"
  # What has to end is the first process inside; unshare only waits for it.
  init=$(<"$dir/run/node.init")
  start_time "$init" >"$dir/run/node.since"
  echo "$init" >"$dir/run/node.pid"
  link_node "$init"
  make_cgroups "$(node_number "$dir")"
}

node_number() { cat "$1/node/number"; }

# The name of the interface is what makes a number ours: no two can have the same.
link_node() {
  local init=$1 number attempt
  for attempt in {1..50}; do
    number=$((SRANDOM % 256))
    ! ip link add "clab$number" type veth peer name eth0 netns "$init" 2>/dev/null || break
    ((attempt < 50)) || die "cannot make an interface for the node"
  done
  echo "$number" >"$dir/node/number"
  ip addr add "$(machine_address "$number")/30" dev "clab$number"
  ip link set "clab$number" up
  in_node ip addr add "$(node_address "$number")/30" dev eth0
  in_node ip link set eth0 up
  in_node ip route add default via "$(machine_address "$number")"
  ip route add "198.19.$number.0/24" via "$(node_address "$number")"
}

# in_node COMMAND...: runs it in the namespaces of the node.
in_node() {
  nsenter --target "$(pid_of "$dir" node)" --mount --net --pid --wd="$PWD" -- "$@"
}

# spawn_in_node NAME PROGRAM ARGUMENT...: pods read some of the files these programs write, unlike those of the lab.
spawn_in_node() {
  local name=$1
  shift
  # shellcheck disable=SC2016 # expanded there
  spawn "$dir" "$name" nsenter --target "$(pid_of "$dir" node)" --mount --net --pid -- \
    bash -c 'umask 022 && exec "$@"' "$name" "$@"
}

# --- cgroups ----------------------------------------------------------------------------------------------------------

# Prints the roots of the hierarchies: of each controller, or the one of all (version 2).
cgroup_roots() {
  if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
    echo /sys/fs/cgroup
  else
    find /sys/fs/cgroup -mindepth 2 -maxdepth 2 -name cgroup.procs -printf '%h\n'
  fi
}

make_cgroups() {
  local root
  for root in $(cgroup_roots); do
    mkdir -p "$root/$(cgroup_name "$1")"
  done
}

# Those without processes, which is all of them soon after the node has ended.
remove_cgroups() {
  local root path result=0
  for root in $(cgroup_roots); do
    path=$root/$(cgroup_name "$1")
    [[ ! -d $path ]] || find "$path" -depth -type d -exec rmdir {} + 2>/dev/null || true
    [[ ! -d $path ]] || result=1
  done
  return "$result"
}

# What outlives the processes of a node. clean_up_node DIR
clean_up_node() {
  local number
  [[ -e $1/node/number ]] || return 0
  number=$(node_number "$1")
  ip link delete "clab$number" 2>/dev/null || true
  wait_until 20 "the cgroups of the node are removed" remove_cgroups "$number"
  rm -f "$1/node/number"
}

# What runs beside and in it, once there is an API server. The image of the sandboxes comes before the first pod.
start_node_programs() {
  start_scheduler
  start_dns
  start_containerd
  start_kubelet
}

# --- containerd -------------------------------------------------------------------------------------------------------

start_containerd() {
  write_containerd_config
  write_network_config
  spawn_in_node containerd env PATH="$node_assets/bin:$PATH" \
    "$node_assets/bin/containerd" --config "$dir/node/containerd.toml"
  await containerd "it answers" containerd_answers
  import_images "$pause_image"
}

containerd_answers() { in_node "$node_assets/bin/ctr" version >/dev/null 2>&1; }

# Its state and sockets are in the node's own /run. Who may not lower OOM scores (a container without CAP_SYS_RESOURCE) can
# start no pod unless they are restricted.
write_containerd_config() {
  cat >"$dir/node/containerd.toml" <<CONFIG
version = 2
root = "$dir/node/containerd"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt",
]
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/$PAUSE_IMAGE"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "$node_assets/cni"
conf_dir = "$dir/node/cni"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "$node_assets/bin/runc"
CONFIG
}

write_network_config() {
  mkdir -p "$dir/node/cni"
  cat >"$dir/node/cni/10-lab.conflist" <<CONFIG
{
  "cniVersion": "0.4.0",
  "name": "lab",
  "plugins": [{
    "type": "bridge",
    "bridge": "cni0",
    "isGateway": true,
    "hairpinMode": true,
    "ipam": {
      "type": "host-local",
      "ranges": [[{"subnet": "198.19.$(node_number "$dir").0/24"}]],
      "routes": [{"dst": "0.0.0.0/0"}]
    }
  }]
}
CONFIG
}

import_images() {
  local archive
  for archive; do
    in_node "$(node_assets_folder)/bin/ctr" -n k8s.io images import "$archive" >/dev/null ||
      die "cannot import $archive"
  done
}

# --- kubelet, scheduler, DNS ------------------------------------------------------------------------------------------

start_scheduler() {
  local flags=(--kubeconfig="$dir/kube-scheduler.kubeconfig" --leader-elect=false --secure-port=0)
  ! has_flag kube-scheduler '--port int' || flags+=(--port=0) # gone in v1.24
  spawn "$dir" kube-scheduler "$assets/kube-scheduler" "${flags[@]}"
}

start_dns() {
  spawn_in_node lab-dns env KUBECONFIG="$dir/dns.kubeconfig" \
    "$dns_program" "$(node_address "$(node_number "$dir")"):53" cluster.local
}

start_kubelet() {
  write_kubelet_config
  local flags=(
    --config="$dir/node/kubelet.yaml"
    --kubeconfig="$dir/$NODE_NAME.kubeconfig"
    --root-dir="$dir/node/kubelet"
    --cert-dir="$dir/node/kubelet/pki"
    --container-runtime-endpoint=unix:///run/containerd/containerd.sock
    --hostname-override="$NODE_NAME"
    --node-ip="$(node_address "$(node_number "$dir")")"
  )
  ! has_flag kubelet '--container-runtime string' || flags+=(--container-runtime=remote) # gone in v1.27
  spawn_in_node kubelet "$assets/kubelet" "${flags[@]}"
  await kubelet "the node is ready" node_is_ready
}

# has_flag PROGRAM TEXT: whether its help has the text.
has_flag() { [[ $("$assets/$1" --help 2>&1) == *"$2"* ]]; }

write_kubelet_config() {
  local number
  number=$(node_number "$dir")
  cat >"$dir/node/kubelet.yaml" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $(node_address "$number")
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: false}
  x509: {clientCAFile: $dir/pki/ca.crt}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /$(cgroup_name "$number")
clusterDNS: ["$(node_address "$number")"]
clusterDomain: cluster.local
enforceNodeAllocatable: []
# A test machine may be nearly full, and what else runs on it is no business of the node.
evictionHard: {memory.available: "1Mi", nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%"}
failSwapOn: false
imageGCHighThresholdPercent: 100
makeIPTablesUtilChains: false
nodeStatusUpdateFrequency: 1s
oomScoreAdj: 0
protectKernelDefaults: true
readOnlyPort: 0
resolvConf: ""
volumePluginDir: $dir/node/volume-plugins
CONFIG
}

node_is_ready() {
  get "/api/v1/nodes/$NODE_NAME" 2>/dev/null |
    jq -e '.status.conditions[] | select(.type == "Ready") | .status == "True"' >/dev/null
}
