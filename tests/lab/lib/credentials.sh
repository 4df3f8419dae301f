# shellcheck shell=bash
# Certificates, tokens and kubeconfig files of a lab. Nothing here outlives its folder.

# Users without any right of their own: a test binds a Role to one and acts as that user.
ORDINARY_USERS=(viewer editor)
# The programs of the lab, which may do everything.
PROGRAM_USERS=(system:kube-controller-manager system:kube-scheduler system:node:node1 system:dns)

make_certificates() {
  local pki=$1/pki
  [[ -e $pki/apiserver.crt ]] && return 0
  mkdir -p "$pki"
  {
    make_ca "$pki"
    make_server_certificate "$pki"
    make_client_certificate "$pki"
    openssl ecparam -name prime256v1 -genkey -noout -out "$pki/service-account.key"
    openssl ec -in "$pki/service-account.key" -pubout -out "$pki/service-account.pub"
  } >"$1/log/openssl.log" 2>&1 || {
    tail -n 20 "$1/log/openssl.log" >&2
    die "openssl failed"
  }
}

# A root that is not the server's own certificate: strict verifiers (rustls) refuse a CA as an end entity.
make_ca() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj /CN=lab-ca \
    -addext 'basicConstraints=critical,CA:TRUE' -addext 'keyUsage=critical,keyCertSign,cRLSign' \
    -keyout "$1/ca.key" -out "$1/ca.crt"
}

# Made anew for a lab with a node, whose address is not known before. make_server_certificate PKI [ADDRESS]
make_server_certificate() {
  local pki=$1 address=${2:-127.0.0.1}
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=kube-apiserver \
    -keyout "$pki/apiserver.key" -out "$pki/apiserver.csr"
  cat >"$pki/apiserver.ext" <<EXTENSIONS
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = IP:127.0.0.1, IP:$address, IP:10.96.0.1, DNS:localhost, DNS:kubernetes, DNS:kubernetes.default, DNS:kubernetes.default.svc
EXTENSIONS
  openssl x509 -req -in "$pki/apiserver.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 3650 \
    -extfile "$pki/apiserver.ext" -out "$pki/apiserver.crt"
}

# As whom the API server talks to a kubelet.
make_client_certificate() {
  local pki=$1
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /O=system:masters/CN=kube-apiserver \
    -keyout "$pki/client.key" -out "$pki/client.csr"
  openssl x509 -req -in "$pki/client.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 3650 \
    -extfile <(echo 'extendedKeyUsage = clientAuth') -out "$pki/client.crt"
}

# One line a user: token,user,uid,"groups".
make_tokens() {
  local file=$1/tokens.csv user
  [[ -e $file ]] && return 0
  {
    echo "$(random_token),admin,admin,\"system:masters\""
    # Names of their own, so that an audit log tells their calls from the admin's.
    for user in "${PROGRAM_USERS[@]}"; do
      echo "$(random_token),$user,$user,\"system:masters\""
    done
    for user in "${ORDINARY_USERS[@]}"; do
      echo "$(random_token),$user,$user"
    done
  } >"$file"
}

random_token() { openssl rand -hex 16; }

token_of() { awk -F, -v user="$2" '$2 == user { print $1 }' "$1/tokens.csv"; }

# write_kubeconfigs DIR URL
write_kubeconfigs() {
  local dir=$1 url=$2 user
  {
    kubeconfig_head "$dir" "$url"
    kubeconfig_context lab admin
    for user in "${ORDINARY_USERS[@]}"; do
      kubeconfig_context "$user" "$user"
    done
    echo "users:"
    kubeconfig_user "$dir" admin
    for user in "${ORDINARY_USERS[@]}"; do
      kubeconfig_user "$dir" "$user"
    done
  } >"$dir/kubeconfig"
  for user in "${PROGRAM_USERS[@]}"; do
    write_kubeconfig "$dir" "$url" "$user"
  done
}

# write_kubeconfig DIR URL USER: for one program, in DIR/USER.kubeconfig without what comes before the last colon.
write_kubeconfig() {
  {
    kubeconfig_head "$1" "$2"
    kubeconfig_context lab "$3"
    echo "users:"
    kubeconfig_user "$1" "$3"
  } >"$1/${3##*:}.kubeconfig"
}

kubeconfig_head() {
  cat <<HEAD
apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: lab
  cluster:
    server: $2
    certificate-authority-data: $(base64 -w0 <"$1/pki/ca.crt")
contexts:
HEAD
}

kubeconfig_context() {
  printf -- '- name: %s\n  context: {cluster: lab, user: "%s", namespace: default}\n' "$1" "$2"
}

kubeconfig_user() {
  printf -- '- name: "%s"\n  user: {token: "%s"}\n' "$2" "$(token_of "$1" "$2")"
}
