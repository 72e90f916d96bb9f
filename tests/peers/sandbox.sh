#!/usr/bin/env bash
# Runs a command beside a real containerd that finds a rendered tree on the standard paths, and leaves nothing behind.
#
#   sandbox.sh --tree TREE --containerd VERSION [--peers DIR] [--work DIR] [--no-images] [--no-start] -- CMD [ARG..]
#
#   --tree        a root as Purlin renders it (etc/, var/run/cdi/, opt/, usr/, dev/ ...); it is copied, never written
#   --containerd  a version that build.sh installed, or a folder with containerd, ctr and the shim
#   --peers       where build.sh put things (default: $PURLIN_PEERS, then target/peers)
#   --work        keep logs and state in DIR (created; must not exist or be empty) instead of removing them
#   --no-images   do not import the busybox and pause images (saves 0.3 s)
#   --no-start    prepare everything, but let CMD start containerd
#
# CMD sees the host's files, with /dev, /etc, /opt, /usr and /var copied on write and TREE laid over them, an own /run,
# own processes, own network (lo, and eth0 with a default route that leads nowhere) and own cgroups. It finds ctr, crictl,
# cnitool, runc and crun on PATH, containerd, runc and crun in /usr/bin, the CNI plugins in /opt/cni/bin, and in its
# environment:
#   SANDBOX_LOG   containerd's log       SANDBOX_CONTAINERD_PID   its process      SANDBOX_READY_MS   start to socket
# Exit status: CMD's; 70: containerd ended before it served its socket (the end of its log is on stderr); 64: usage.
#
# All processes live in one PID namespace whose init is a child of this script, all mounts in one mount namespace: the
# end of this script, however it comes, is the end of them.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() {
    printf 'sandbox.sh: %s\n' "$*" >&2
    exit 64
}

# ---- outside: arguments, then a mount namespace ------------------------------------------------------------------

if [ "${SANDBOX_STAGE:-}" = '' ]; then
    [ "$(id -u)" = 0 ] || usage 'needs root'
    tree='' version='' work='' images=1 start=1
    peers=${PURLIN_PEERS:-$here/../../target/peers}
    while [ $# -gt 0 ]; do
        case $1 in
        --tree | --containerd | --peers | --work)
            [ $# -ge 2 ] || usage "$1 wants a value"
            case $1 in --tree) tree=$2 ;; --containerd) version=$2 ;; --peers) peers=$2 ;; --work) work=$2 ;; esac
            shift 2
            ;;
        --no-images) images=0; shift ;;
        --no-start) start=0; shift ;;
        --) shift; break ;;
        *) usage "unknown argument $1" ;;
        esac
    done
    [ $# -gt 0 ] || usage 'no command'
    [ -d "$tree" ] || usage "--tree $tree is no folder"
    [ -d "$peers" ] || usage "no peers in $peers, run build.sh"
    SANDBOX_TREE=$(cd "$tree" && pwd -P)
    SANDBOX_PEERS=$(cd "$peers" && pwd -P)
    daemon=$version
    [ -d "$version" ] || daemon=$SANDBOX_PEERS/containerd-$version
    [ -x "$daemon/containerd" ] || usage "no containerd in $daemon"
    SANDBOX_DAEMON=$(cd "$daemon" && pwd -P)
    if [ -n "$work" ]; then
        SANDBOX_KEEP=1
        mkdir -p "$work"
        SANDBOX_WORK=$(cd "$work" && pwd -P)
        [ -z "$(ls -A "$SANDBOX_WORK")" ] || usage "--work $work is not empty"
    else
        SANDBOX_KEEP=0
        SANDBOX_WORK=$(mktemp -d "${TMPDIR:-/tmp}/purlin-sandbox.XXXXXX")
    fi
    case $SANDBOX_WORK/ in # it holds the upper layers of these
    /dev/* | /etc/* | /opt/* | /usr/* | /var/* | /run/*) usage "--work cannot be in $SANDBOX_WORK" ;;
    esac
    SANDBOX_IMAGES=$images SANDBOX_START=$start SANDBOX_STAGE=supervise
    export SANDBOX_TREE SANDBOX_PEERS SANDBOX_DAEMON SANDBOX_WORK SANDBOX_KEEP SANDBOX_IMAGES SANDBOX_START SANDBOX_STAGE
    exec unshare --mount --propagation private -- "$BASH" "$here/sandbox.sh" "$@"
fi

work=$SANDBOX_WORK

# ---- supervise: the host's processes and cgroups, an own mount namespace ------------------------------------------

cgroup_v1() { [ ! -e /sys/fs/cgroup/cgroup.controllers ]; }

# The places of this process in every mounted hierarchy, one a line: where the containers' cgroups may be made.
cgroup_places() {
    local id controllers path mount
    while IFS=: read -r id controllers path; do
        if [ "$id" = 0 ]; then
            mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
        else
            mount=$(awk -v want="${controllers#name=}" '$3 == "cgroup" && $2 ~ ("/" want "$") { print $2; exit }' /proc/mounts)
        fi
        [ -z "$mount" ] || printf '%s%s\n' "$mount" "${path%/}"
    done </proc/self/cgroup
}

# shellcheck disable=SC2329 # called by the trap
remove_cgroups() {
    local place
    for place in "${places[@]}"; do
        [ ! -d "$place/$group" ] || find "$place/$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
}

if [ "$SANDBOX_STAGE" = supervise ]; then
    child='' places=() group=purlin-sandbox-$$
    # shellcheck disable=SC2329 # it is the trap
    finish() {
        local rc=$?
        trap - EXIT
        trap '' INT TERM HUP
        if [ -n "$child" ] && kill -0 "$child" 2>/dev/null; then
            kill -KILL "$child" 2>/dev/null || true # --kill-child: its PID namespace goes with it
            wait "$child" 2>/dev/null || true
        fi
        # The kernel lets a cgroup go a moment after its last process.
        for _ in $(seq 50); do
            remove_cgroups
            ls -d "${places[@]/%//$group}" >/dev/null 2>&1 || break
            sleep 0.02
        done
        umount "$work/cgroup/hugetlb" 2>/dev/null || true
        [ "$SANDBOX_KEEP" = 1 ] || rm -rf --one-file-system "$work"
        exit "$rc"
    }
    trap finish EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM

    if cgroup_v1; then
        # crun refuses to run without hugetlb; a new v1 hierarchy can be mounted from the first cgroup namespace only.
        if ! grep -q '^cgroup [^ ]*/hugetlb ' /proc/mounts && grep -q '^hugetlb' /proc/cgroups; then
            mkdir -p "$work/cgroup/hugetlb"
            mount -t cgroup -o hugetlb cgroup "$work/cgroup/hugetlb" 2>/dev/null || true
        fi
        mapfile -t places < <(cgroup_places)
        for place in "${places[@]}"; do
            for f in "$place"/purlin-sandbox-*; do # of a run that was killed
                [ ! -d "$f" ] || [ -d "/proc/${f##*-}" ] || find "$f" -depth -type d -exec rmdir {} + 2>/dev/null || true
            done
            mkdir "$place/$group"
            for f in cpuset.cpus cpuset.mems; do # empty in a new cgroup, and then no process may enter
                [ ! -e "$place/$group/$f" ] || cat "$place/$f" >"$place/$group/$f"
            done
        done
    fi

    (
        for place in "${places[@]}"; do echo "$BASHPID" >"$place/$group/cgroup.procs"; done
        export SANDBOX_STAGE=inside
        own=(--mount --net --pid --fork --kill-child)
        [ ${#places[@]} -eq 0 ] || own+=(--cgroup)
        exec setpriv --pdeathsig KILL unshare "${own[@]}" -- "$BASH" "$here/sandbox.sh" "$@"
    ) &
    child=$!
    rc=0
    wait "$child" || rc=$?
    child=''
    exit "$rc"
fi

# ---- inside: process 1 of its own world -----------------------------------------------------------------------------

mount -t proc proc /proc
mount --make-rshared / # a new peer group, as mount propagation into containers expects

# TREE, with the programs that a node has beside it; what TREE brings itself wins.
mkdir -p "$work/tree"
cp -a "$SANDBOX_TREE/." "$work/tree/"
if [ -d "$work/tree/var/run" ]; then # a link to /run on the machine
    mkdir -p "$work/tree/run"
    cp -a "$work/tree/var/run/." "$work/tree/run/"
    rm -rf "$work/tree/var/run"
fi
mkdir -p "$work/tree"/{dev,etc,opt/cni/bin,run,usr/bin,var/lib}
for f in "$SANDBOX_PEERS"/bin/{runc,crun} "$SANDBOX_DAEMON"/{containerd,containerd-shim-runc-v2,ctr}; do
    [ -e "$work/tree/usr/bin/${f##*/}" ] || ln -s "$f" "$work/tree/usr/bin/${f##*/}"
done
for f in "$SANDBOX_PEERS"/cni/*; do
    [ -e "$work/tree/opt/cni/bin/${f##*/}" ] || ln -s "$f" "$work/tree/opt/cni/bin/${f##*/}"
done

[ -e "$work/tree/etc/crictl.yaml" ] || cat >"$work/tree/etc/crictl.yaml" <<'YAML'
runtime-endpoint: unix:///run/containerd/containerd.sock
image-endpoint: unix:///run/containerd/containerd.sock
timeout: 20
YAML

mount -t tmpfs -o mode=755 tmpfs /run
cp -a "$work/tree/run/." /run/
for f in etc opt usr var; do
    mkdir -p "$work/upper/$f" "$work/layer/$f"
    mount -t overlay -o "lowerdir=$work/tree/$f:/$f,upperdir=$work/upper/$f,workdir=$work/layer/$f" overlay "/$f"
done
# The machine's device nodes and what is mounted below them, but a new node stays here.
mkdir -p "$work/upper/dev" "$work/layer/dev" "$work/dev"
mount -t overlay -o "lowerdir=$work/tree/dev:/dev,upperdir=$work/upper/dev,workdir=$work/layer/dev" overlay "$work/dev"
for f in $(awk '$2 ~ "^/dev/[^/]+$" { print $2 }' /proc/mounts | sort -u); do mount --rbind "$f" "$work$f"; done
mount --rbind "$work/dev" /dev
# The overlay snapshotter cannot work on an overlay.
mkdir -p "$work/containerd" /var/lib/containerd
mount --bind "$work/containerd" /var/lib/containerd
[ -z "$(ls -A /etc/cni/net.d 2>/dev/null)" ] || chmod 755 /etc/cni/net.d

if cgroup_v1; then # the same mounts, seen from this cgroup namespace
    mapfile -t hierarchies < <(cut -d : -f 1,2 /proc/self/cgroup)
    mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
    for h in "${hierarchies[@]}"; do
        case $h in
        0:) mkdir /sys/fs/cgroup/unified && mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified ;;
        *:name=*) mkdir "/sys/fs/cgroup/${h#*=}" && mount -t cgroup -o "none,${h#*:}" cgroup "/sys/fs/cgroup/${h#*=}" ;;
        *) mkdir "/sys/fs/cgroup/${h#*:}" && mount -t cgroup -o "${h#*:}" cgroup "/sys/fs/cgroup/${h#*:}" ;;
        esac
    done
fi

ip link set lo up
ip link add eth0 type veth peer name uplink0
ip link set uplink0 up
ip link set eth0 up
ip addr add 192.0.2.10/24 dev eth0
ip route add default via 192.0.2.1 dev eth0
sysctl -qw net.ipv4.ip_forward=1

export PATH="$SANDBOX_DAEMON:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$SANDBOX_PEERS/bin:$PATH"
export SANDBOX_LOG=$work/containerd.log
unset SANDBOX_STAGE

if [ "$SANDBOX_START" = 1 ]; then
    began=$(date +%s%N)
    "$SANDBOX_DAEMON/containerd" >"$SANDBOX_LOG" 2>&1 </dev/null &
    daemon=$!
    until ctr --connect-timeout 1s version >/dev/null 2>&1; do
        if ! kill -0 "$daemon" 2>/dev/null || [ $((($(date +%s%N) - began) / 1000000000)) -ge 30 ]; then
            printf 'sandbox.sh: containerd did not come up:\n' >&2
            tail -n 5 "$SANDBOX_LOG" >&2
            exit 70
        fi
        sleep 0.02
    done
    SANDBOX_READY_MS=$((($(date +%s%N) - began) / 1000000))
    SANDBOX_CONTAINERD_PID=$daemon
    export SANDBOX_READY_MS SANDBOX_CONTAINERD_PID
    if [ "$SANDBOX_IMAGES" = 1 ]; then
        for f in busybox pause; do ctr -n k8s.io images import "$SANDBOX_PEERS/images/$f.tar" >"$work/import.log" 2>&1 || cat "$work/import.log" >&2; done
    fi
fi

rc=0
"$@" || rc=$?
# Pods are removed the proper way while that is possible, so that CNI DEL and the hooks of an end run too.
if [ -n "${SANDBOX_CONTAINERD_PID:-}" ] && kill -0 "$SANDBOX_CONTAINERD_PID" 2>/dev/null; then
    [ -z "$(crictl pods -q 2>/dev/null)" ] || timeout 30 crictl rmp -fa >"$work/end.log" 2>&1 || true
    kill "$SANDBOX_CONTAINERD_PID" 2>/dev/null || true
    for _ in $(seq 100); do kill -0 "$SANDBOX_CONTAINERD_PID" 2>/dev/null || break; sleep 0.02; done
fi
exit "$rc"
