# shellcheck shell=bash
# shellcheck disable=SC2154 # port is set by start_on_free_port
# The control plane of a lab. Its globals: $dir, $assets, $audit, $with_node, $apiserver_flags, $controller_manager_flags.

# How long one program may take to come up while a compiler has the machine.
START_SECONDS=120

SERVICE_RANGE=10.96.0.0/16

start_etcd() {
  start_on_free_port "$dir" etcd spawn_etcd
  echo "http://127.0.0.1:$port" >"$dir/run/etcd.url"
}

spawn_etcd() {
  export ETCD_UNSUPPORTED_ARCH=arm64 # this etcd runs there only when told so; elsewhere it means nothing
  spawn "$dir" etcd "$assets/etcd" --data-dir="$dir/etcd" --unsafe-no-fsync \
    --listen-client-urls="http://127.0.0.1:$port" --advertise-client-urls="http://127.0.0.1:$port" \
    --listen-peer-urls=http://127.0.0.1:0
}

# --- kube-apiserver ---------------------------------------------------------------------------------------------------

start_apiserver() {
  if [[ $audit == yes ]]; then
    write_audit_policy "$dir/audit-policy.yaml"
  fi
  # Where a node can reach it, if there is one.
  api_address=127.0.0.1
  if [[ $with_node == yes ]]; then
    api_address=$(machine_address "$(node_number "$dir")")
    make_server_certificate "$dir/pki" "$api_address" >>"$dir/log/openssl.log" 2>&1
  fi
  start_on_free_port "$dir" kube-apiserver spawn_apiserver
  write_kubeconfigs "$dir" "https://$api_address:$port"
  echo "https://$api_address:$port" >"$dir/run/kube-apiserver.url"
}

spawn_apiserver() {
  # shellcheck disable=SC2034 # spawn_with reads it by name
  local flags=(
    --etcd-servers="$(<"$dir/run/etcd.url")"
    --bind-address="$api_address"
    --secure-port="$port"
    --cert-dir="$dir/pki"
    --tls-cert-file="$dir/pki/apiserver.crt"
    --tls-private-key-file="$dir/pki/apiserver.key"
    --token-auth-file="$dir/tokens.csv"
    --authorization-mode=RBAC
    --service-account-key-file="$dir/pki/service-account.pub"
    --service-account-signing-key-file="$dir/pki/service-account.key"
    --service-account-issuer=https://kubernetes.default.svc
    --service-cluster-ip-range="$SERVICE_RANGE"
    --allow-privileged=true
    # For logs, exec and port-forward of a node's pods.
    --kubelet-preferred-address-types=InternalIP
    --kubelet-client-certificate="$dir/pki/client.crt"
    --kubelet-client-key="$dir/pki/client.key"
    # Pods without service accounts; a test that wants them passes --apiserver-flag=--disable-admission-plugins=
    --disable-admission-plugins=ServiceAccount
    # As OpenShift has it: who makes an object that blocks its owner's deletion must have rights on the owner. What works
    # here works without it as well.
    --enable-admission-plugins=OwnerReferencesPermissionEnforcement
    # The suite measures the client, not the server's queue.
    --max-requests-inflight=2000
    --max-mutating-requests-inflight=1000
  )
  if [[ $audit == yes ]]; then
    flags+=(--audit-policy-file="$dir/audit-policy.yaml" --audit-log-path="$dir/audit.log")
  fi
  spawn_with "$assets/kube-apiserver" flags apiserver_flags
}

# spawn_with PROGRAM OURS GIVEN: starts it with the flags of both arrays, leaving out ours where the caller gave the same
# one (these programs add up list flags instead of replacing them).
spawn_with() {
  local program=$1 our given argv=("$1")
  local -n ours=$2 givens=$3
  for our in "${ours[@]}"; do
    for given in "${givens[@]}"; do
      [[ ${given%%=*} != "${our%%=*}" ]] || continue 2
    done
    argv+=("$our")
  done
  spawn "$dir" "${program##*/}" "${argv[@]}" "${givens[@]}"
}

write_audit_policy() {
  cat >"$1" <<'POLICY'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
POLICY
}

# The bootstrap roles exist once /readyz is ok (it waits for that hook); the default namespace comes a little later.
await_apiserver() {
  await kube-apiserver "/readyz is ok" answers /readyz
  await kube-apiserver "the namespace default exists" answers /api/v1/namespaces/default
}

# await NAME WHAT COMMAND...: until the command succeeds; fails at once when the program dies.
await() {
  local name=$1 what=$2
  shift 2
  wait_until "$START_SECONDS" "$what" or_gone "$name" "$@" || failed "$dir" "$name"
  ! abandoned || die "process $parent has ended"
  running "$dir" "$name" || failed "$dir" "$name"
}

or_gone() {
  local name=$1
  shift
  "$@" || gone "$dir" "$name" || abandoned
}

# Whether the admin gets 200 for the path.
answers() { get "$1" >/dev/null; }

# Prints what the admin gets for the path.
get() {
  curl -sf --max-time 5 --noproxy '*' --cacert "$dir/pki/ca.crt" \
    --config - "$(<"$dir/run/kube-apiserver.url")$1" <<<"header = \"Authorization: Bearer $(token_of "$dir" admin)\""
}

# --- kube-controller-manager ------------------------------------------------------------------------------------------

start_controller_manager() {
  local program controllers='*,-nodeipam,-service,-route,-cloud-node-lifecycle'
  program=$(controller_manager_in "$assets")
  # It would set the pods of a Node object without a kubelet to not ready after 40 seconds.
  [[ $with_node == yes ]] || controllers+=,-nodelifecycle
  # shellcheck disable=SC2034 # spawn_with reads it by name
  local flags=(
    --kubeconfig="$dir/kube-controller-manager.kubeconfig"
    --service-account-private-key-file="$dir/pki/service-account.key"
    --root-ca-file="$dir/pki/ca.crt"
    --leader-elect=false
    --controllers="$controllers"
    --kube-api-qps=1000
    --kube-api-burst=2000
    # It serves nothing here, so it has no port that could collide.
    --secure-port=0
  )
  if [[ $("$program" --help 2>&1) == *'--port int'* ]]; then
    flags+=(--port=0) # the insecure one: on by default, and gone in v1.24
  fi
  spawn_with "$program" flags controller_manager_flags
}

# Two of its controllers have done their work: the service account appears, the collector watches every kind.
await_controller_manager() {
  await kube-controller-manager "the service account default exists" \
    answers /api/v1/namespaces/default/serviceaccounts/default
  if collects_garbage; then
    await kube-controller-manager "the garbage collector watches every kind" \
      grep -qi 'proceeding to collect garbage' "$dir/log/kube-controller-manager.log"
  fi
}

# Unless the caller chose other controllers.
collects_garbage() {
  local argument argv
  mapfile -d '' argv <"$dir/run/kube-controller-manager.argv"
  for argument in "${argv[@]}"; do
    [[ $argument != --controllers=* || ($argument == *'*'* && $argument != *-garbagecollector*) ]] || return 1
  done
}
