#!/usr/bin/env bash
# What the consumer tests do inside a sandbox. It collects what the consumers say and do as files in $OUT; the tests
# judge them.
#
#   inside.sh WHAT [ARG..]     WHAT is a function below
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
log=${OUT:?}/calls.log # what the tools complained of, to read when a test fails

# until_true COMMAND..: waits for a state that comes without a call that would wait for it.
until_true() {
    for _ in $(seq 250); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.02
    done
    echo "still not: $*" >&2
    return 1
}

# ---- CRI ------------------------------------------------------------------------------------------------------------

# The socket is served before CRI and its CNI part are.
cri_up() { until_true ready; }
ready() { crictl info 2>/dev/null | jq -e '[.status.conditions[] | select(.type == "RuntimeReady")] | any(.status)'; }

# What the daemon says of itself: info.json, plugins.txt, runtime-config.txt.
says() {
    cri_up
    crictl info >"$OUT/info.json" 2>>"$log"
    crictl runtime-config >"$OUT/runtime-config.txt" 2>>"$log"
    ctr plugins ls >"$OUT/plugins.txt"
}

# pod NAME HANDLER [JSON]: runs a pod through a handler ("" for the default), JSON added to its configuration.
pod() {
    jq -n --arg name "$1" --argjson more "${3:-"{}"}" '{
        metadata: { name: $name, namespace: "purlin", uid: $name, attempt: 1 }, log_directory: "/run/pods", linux: {} } * $more
    ' >"/run/$1.pod.json"
    crictl runp ${2:+--runtime "$2"} "/run/$1.pod.json" >"/run/$1.id" 2>>"$log"
    crictl inspectp "$(cat "/run/$1.id")" >"$OUT/pod-$1.json" 2>>"$log"
}

# container POD NAME JSON COMMAND..: runs a container to its end. Its output becomes $OUT/NAME.log.
container() {
    local pod=$1 name=$2 more=$3 id
    shift 3
    jq -n --arg name "$name" --argjson more "$more" '{
        metadata: { name: $name }, image: { image: "docker.io/library/busybox:latest" }, command: $ARGS.positional,
        log_path: ($name + ".log"), linux: {} } * $more' --args -- "$@" >"/run/$name.json"
    id=$(crictl create --no-pull "$(cat "/run/$pod.id")" "/run/$name.json" "/run/$pod.pod.json" 2>"$OUT/$name.error") || {
        echo 'not created' >"$OUT/$name.log"
        return
    }
    printf '%s\n' "$id" >"$OUT/$name.id"
    crictl start "$id" >/dev/null 2>>"$log"
    until_true exited "$id"
    crictl inspect "$id" >"$OUT/container-$name.json" 2>>"$log"
    cut -d ' ' -f 4- "/run/pods/$name.log" >"$OUT/$name.log" 2>/dev/null || : >"$OUT/$name.log"
}
exited() { [ "$(crictl inspect -o go-template --template '{{.status.state}}' "$1" 2>/dev/null)" = CONTAINER_EXITED ]; }

# ---- mirrors ----------------------------------------------------------------------------------------------------------

asked=/run/asked

# certificate NAME: self-signed, for loopback.
certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
        -addext subjectAltName=IP:127.0.0.1 -keyout "/run/certificates/$1.key" -out "/run/certificates/$1.pem" 2>>"$log"
}

mirrors() {
    local ready
    mkdir -p /run/certificates /etc/purlin-test
    certificate known
    certificate other
    cp /run/certificates/known.pem /etc/purlin-test/ca.pem
    : >"$asked"
    # Whoever is not sent elsewhere asks the registry itself; here that must not wait for an answer from nowhere.
    echo '127.0.0.1 registry-1.docker.io' >>/etc/hosts
    exec 8< <(exec /usr/bin/env python3 "$here/mirror.py" "$asked" /run/certificates)
    read -r -u 8 ready
    [ "$ready" = ready ]
}

# pull FILE: what the mirrors are asked when an image is pulled that nobody has, by tag and by digest.
pull() {
    local end
    : >"$asked"
    for end in :1 "@sha256:$(printf '0%.0s' {1..64})"; do
        ! crictl --timeout 10s pull "docker.io/library/purlin-test$end" >>"$log" 2>&1 || exit 1
    done
    cp "$asked" "$1"
}

# ---- what is tried ------------------------------------------------------------------------------------------------------

# A daemon on the tree of own.kdl.
own() {
    local handler ns id
    says
    for handler in '' runc crun nvidia; do
        pod "p$handler" "$handler" '{"annotations":{"purlin.test/note":"kept"}}'
    done
    ns=$(jq -r '.info.runtimeSpec.linux.namespaces[] | select(.type == "network").path' "$OUT/pod-p.json")
    nsenter --net="$ns" ping -c 1 -W 2 10.23.0.1 >"$OUT/ping.txt"
    nsenter --net="$ns" ip -json address show dev eth0 >"$OUT/address.json"
    ip -json address show dev purlin0 >"$OUT/bridge.json"

    for handler in runc crun nvidia; do
        container "p$handler" "c$handler" '{"cdi_devices":[{"name":"purlin.test/serial=purlin:serial0"}]}' sh -c '
            stat -c "%t:%T %F" /dev/purlin/serial0
            head -c 4 /dev/purlin/serial0 | od -An -tx1
            echo "SERIAL=$SERIAL"
            grep CapEff /proc/self/status'
    done
    container prunc without '{}' sh -c 'ls /dev/purlin 2>&1; echo "SERIAL=$SERIAL"'

    pod phost '' '{"port_mappings":[{"protocol":0,"container_port":80,"host_port":8080}]}'
    through_host_port
    cp /run/purlin-test-hook.log "$OUT/hooks.log"
    cp /run/nvidia.log "$OUT/nvidia.log"

    mirrors
    pull "$OUT/asked.txt"
}

# A container that answers on port 80 once, asked by the host's port.
through_host_port() {
    local id
    jq -n '{ metadata: { name: "answer" }, image: { image: "docker.io/library/busybox:latest" }, log_path: "answer.log", linux: {},
        command: ["sh", "-c", "echo through the host port | nc -l -p 80"] }' >/run/answer.json
    id=$(crictl create --no-pull "$(cat /run/phost.id)" /run/answer.json /run/phost.pod.json 2>>"$log")
    crictl start "$id" >/dev/null 2>>"$log"
    until_true answered
}
answered() { timeout 1 bash -c 'exec 7<>/dev/tcp/192.0.2.10/8080; cat <&7' 2>/dev/null | tee "$OUT/answer.txt" | grep -q .; }

# hosts FOLDER: each file of it in the place of docker.io's, and what the mirrors are asked then, as FILE.asked.
hosts() {
    local file
    cri_up
    mirrors
    for file in "$1"/*; do
        cp "$file" /etc/containerd/certs.d/docker.io/hosts.toml
        pull "$OUT/$(basename "$file").asked"
    done
}

# configs FOLDER: each file of it as the daemon's configuration, and what the daemon says then, in a folder FILE.
configs() {
    local all=$OUT file pid
    for file in "$1"/*; do
        OUT=$all/$(basename "$file")
        mkdir "$OUT"
        cp "$file" /etc/containerd/config.toml
        containerd >"$OUT/log" 2>&1 </dev/null &
        pid=$!
        until_true up_or_gone "$pid"
        if kill -0 "$pid" 2>/dev/null; then
            says
            kill "$pid"
        fi
        wait "$pid" || true
        rm -f /run/containerd/containerd.sock
    done
}
up_or_gone() { ctr --connect-timeout 1s version || ! kill -0 "$1"; }

# A daemon on a foreign root with our drop-in beside it.
drop_in() {
    local handler
    says
    containerd config dump >"$OUT/dump.toml"
    for handler in '' test theirs; do
        pod "p$handler" "$handler"
    done
    container ptest ctest '{}' true
    container ptheirs ctheirs '{}' true
    cp /run/purlin-test-hook.log "$OUT/hooks.log"
    mirrors
    pull "$OUT/asked.txt"
}

# cdi [only-dynamic]: a container that asks for the device.
cdi() {
    [ "${1:-}" = '' ] || [ ! -e /etc/cdi ] || rm -r /etc/cdi
    cri_up
    # No network is needed for it.
    pod p '' '{"linux":{"security_context":{"namespace_options":{"network":2}}}}'
    container p c '{"cdi_devices":[{"name":"purlin.test/serial=purlin:serial0"}]}' \
        sh -c 'echo "FROM=$FROM"; stat -c %t:%T /dev/purlin/serial0'
}

# hot PURLIN SPEC: files written by purlin beside a daemon that runs, and a container with the device right after.
hot() {
    cri_up
    pod p '' '{"linux":{"security_context":{"namespace_options":{"network":2}}}}'
    container p before '{"cdi_devices":[{"name":"purlin.test/serial=purlin:serial0"}]}' true
    "$1" render "$2" --root / >>"$log" 2>&1
    container p after '{"cdi_devices":[{"name":"purlin.test/serial=purlin:serial0"}]}' stat -c %t:%T /dev/purlin/serial0
}

cnitool_() { CNI_PATH=/opt/cni/bin NETCONFPATH=/etc/cni/net.d command cnitool "$@"; }

# The conflist, added to a namespace and taken away.
cnitool() {
    local ns=/run/netns/t
    ip netns add t
    export CAP_ARGS='{"portMappings":[{"hostPort":8080,"containerPort":80,"protocol":"tcp"}]}'
    cnitool_ add pods "$ns" >"$OUT/add.json" 2>>"$log"
    ip -n t -json address show dev eth0 >"$OUT/link.json"
    nsenter --net="$ns" ping -c 1 -W 2 10.23.0.1 >"$OUT/ping.txt"
    ip -details -json link show master purlin0 >"$OUT/port.json"
    nat >"$OUT/nat.txt"
    ls /var/lib/cni/networks/pods >"$OUT/leases.txt"
    for time in del again; do
        cnitool_ del pods "$ns" >>"$log" 2>&1 && rc=0 || rc=$?
        echo "$time $rc"
    done >"$OUT/gone.txt"
    nat >"$OUT/nat-after.txt"
    ls /var/lib/cni/networks/pods >"$OUT/leases-after.txt"
    ip -n t -o link show dev eth0 >"$OUT/link-after.txt" 2>/dev/null || true
}
nat() { iptables-save -t nat; nft list ruleset; }

# Two conflists that cannot work.
cni_refused() {
    ip netns add t
    jq '.plugins[0].type = "nope"' /etc/cni/net.d/10-purlin-pods.conflist >/run/nope.conflist
    jq '.cniVersion = "9.9.9"' /etc/cni/net.d/10-purlin-pods.conflist >/run/version.conflist
    for name in nope version; do
        cp "/run/$name.conflist" /etc/cni/net.d/10-purlin-pods.conflist
        ! cnitool_ add pods /run/netns/t >"$OUT/$name.txt" 2>&1 || exit 1
    done
}

"$@"
