#!/usr/bin/env bash
# Installs or builds the programs that the tests run Purlin's output against.
#
#   build.sh [NAME..]     no name: all of them (see `peers` below)
#
# Everything lands in target/peers (or $PURLIN_PEERS):
#   containerd-VERSION/{containerd,ctr,containerd-shim-runc-v2}
#   bin/{runc,crun,crictl,critest,cnitool}    cni/<plugin>    images/{busybox,pause}.tar
# A peer is rebuilt when its line in `peers`, or the revision of its recipe, changes; else it is left alone.
# Needs root, Debian 12 with apt, Go on PATH, and the module proxy and Debian mirror in reach.
set -euo pipefail

# name, version; the recipe is the function build_NAME ("-" becomes "_")
peers='
containerd-2.1  2.1.9
containerd-2.4  2.4.2
runc            1.5.3
crun            1.21
cri-tools       1.37.0
cnitool         1.3.1
cni-plugins     1.10.0
busybox         1.35.0
pause           3.10
'
containerd_suite=forky # the Debian suites that carry these versions
crun_suite=trixie
recipe=2               # raise it when a recipe changes what it produces

here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
out=${PURLIN_PEERS:-$repo/target/peers}
mkdir -p "$out"
out=$(cd "$out" && pwd)
mkdir -p "$out"/{bin,cni,images,stamps,modules}

exec 9>"$out/.lock"
flock 9
tmp=$(mktemp -d "$out/.tmp.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# The module cache and the checksum database are the user's own; nothing else of the environment may change a build.
export GOTOOLCHAIN=local GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0
unset GOOS GOARCH
export DEBIAN_FRONTEND=noninteractive

say() { printf '%s\n' "$*"; }
# Runs a command and shows what it wrote only if it fails.
quiet() { "$@" >"$tmp/log" 2>&1 || { cat "$tmp/log" >&2; die "failed: $*"; }; }
die() {
    printf 'build.sh: %s\n' "$*" >&2
    exit 1
}
version_of() { awk -v n="$1" '$1 == n { print $2 }' <<<"$peers"; }

# ---- Debian ---------------------------------------------------------------------------------------------------

# Installs the packages that are missing, after one update of the lists.
need() {
    local missing=() p
    for p; do
        dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing+=("$p")
    done
    [ ${#missing[@]} -eq 0 ] && return
    if [ ! -e "$tmp/updated" ]; then
        # A third-party list that cannot be reached is no reason to stop: the install below says what is really missing.
        apt-get -qq update >"$tmp/apt.log" 2>&1 || true
        : >"$tmp/updated"
    fi
    apt-get -qq -y --no-install-recommends install "${missing[@]}" >>"$tmp/apt.log" 2>&1 ||
        { cat "$tmp/apt.log" >&2; die "apt-get could not install ${missing[*]}"; }
    say "debian packages: installed ${missing[*]}"
}

# The URI and key that this machine's own Debian entry uses, so that a mirror or proxy set up there also serves other suites.
debian_mirror() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
        grep -v '^[[:space:]]*#' | grep -oE 'https?://[^[:space:]]+/debian/?([[:space:]]|$)' | head -n 1 | tr -d '[:space:]' || true
}

# suite SUITE : writes an apt configuration of its own for one Debian suite, leaving the system's alone, and sets APT_CONFIG.
suite() {
    local a=$tmp/apt-$1 entry mirror
    export APT_CONFIG=$a/apt.conf
    [ ! -e "$a/updated" ] || return 0
    mkdir -p "$a"/{lists/partial,cache/archives/partial,files}
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || die 'apt has no Debian entry from which to take the mirror'
    entry="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main"
    printf 'deb %s\ndeb-src %s\n' "$entry" "$entry" >"$a/sources.list"
    cat >"$a/apt.conf" <<CONF
Dir::State "$a";
Dir::State::Lists "$a/lists";
Dir::State::Status "/dev/null";
Dir::Cache "$a/cache";
Dir::Etc::SourceList "$a/sources.list";
Dir::Etc::SourceParts "/dev/null";
APT::Sandbox::User "root";
Acquire::Languages "none";
CONF
    quiet apt-get -qq update
    : >"$a/updated"
}

# unpack DIR SUITE PACKAGE VERSION : one package of any suite, unpacked in DIR, the system untouched.
unpack() {
    local dir=$1 package=$3 version=$4 files=$tmp/apt-$2/files has
    suite "$2"
    has=$(apt-cache madison "$package" | awk '$NF == "Packages" { print $3 }')
    version=$(grep -E "^([0-9]+:)?${version//./\\.}([~+-]|$)" <<<"$has" | head -n 1) ||
        die "$package $4 is not in Debian $2, which has ${has:-none}"
    (cd "$files" && quiet apt-get -qq download "$package=$version")
    mkdir -p "$dir"
    dpkg -x "$files/$package"_*.deb "$dir"
    unset APT_CONFIG
}

# ---- Go -------------------------------------------------------------------------------------------------------

# in_module NAME MODULE@VERSION : a module of ours that requires exactly that one; later go calls run in it.
in_module() {
    mkdir -p "$out/modules/$1"
    cd "$out/modules/$1"
    rm -f go.mod go.sum
    quiet go mod init "peers.test/$1"
    quiet go get "$2"
}

# ---- recipes: each leaves its files in $tmp/NAME, laid out as under $out -----------------------------------------

build_containerd_2_1() { # VERSION DEST ; as Debian builds it: static enough to run on an older libc
    local d=$2/containerd-$1
    unpack "$tmp/forky" "$containerd_suite" containerd "$1"
    mkdir -p "$d"
    mv "$tmp"/forky/usr/bin/{containerd,ctr,containerd-shim-runc-v2} "$d/"
    "$d/containerd" --version >/dev/null || die "containerd $1 of Debian $containerd_suite does not run on this libc"
}

build_containerd_2_4() { # no_btrfs: its headers are not needed for anything tested here
    local d=$2/containerd-$1 c
    mkdir -p "$d"
    in_module containerd "github.com/containerd/containerd/v2@v$1"
    for c in containerd ctr containerd-shim-runc-v2; do
        quiet go build -p 2 -tags no_btrfs -ldflags "-s -w -X github.com/containerd/containerd/v2/version.Version=v$1" \
            -o "$d/$c" "github.com/containerd/containerd/v2/cmd/$c"
    done
}

build_runc() { # without the seccomp tag, containers that ask for a profile fail
    need gcc libc6-dev libseccomp-dev pkg-config
    in_module runc "github.com/opencontainers/runc@v$1"
    CGO_ENABLED=1 quiet go build -p 2 -tags seccomp -ldflags '-s -w' -o "$2/bin/runc" github.com/opencontainers/runc
}

# Debian 12's own, 1.8.1, refuses the ociVersion that these containerds write, and later binaries need a later libc.
build_crun() {
    need gcc libc6-dev make libcap-dev libseccomp-dev libyajl-dev
    local d=$tmp/crun-source
    suite "$crun_suite"
    mkdir -p "$d"
    (cd "$d" && quiet apt-get -qq source --tar-only "crun=$1")
    unset APT_CONFIG
    tar -C "$d" --strip-components 1 -xf "$d/crun_$1.orig.tar.gz"
    cd "$d"
    printf '#define GIT_VERSION "%s"\n' "$1" >git-version.h # upstream's build makes it from a checkout
    quiet ./configure --disable-systemd --disable-criu
    quiet make -j 2 crun
    strip -o "$2/bin/crun" crun
}

build_cri_tools() { # critest is a test binary
    in_module cri-tools "sigs.k8s.io/cri-tools@v$1"
    quiet go build -p 2 -ldflags "-s -w -X sigs.k8s.io/cri-tools/pkg/version.Version=v$1" -o "$2/bin/crictl" sigs.k8s.io/cri-tools/cmd/crictl
    quiet go test -c -p 2 -ldflags '-s -w' -o "$2/bin/critest" sigs.k8s.io/cri-tools/cmd/critest
}

build_cnitool() {
    in_module cnitool "github.com/containernetworking/cni@v$1"
    quiet go build -p 2 -ldflags '-s -w' -o "$2/bin/cnitool" github.com/containernetworking/cni/cnitool
}

build_cni_plugins() {
    local p root=github.com/containernetworking/plugins
    need iptables nftables
    in_module cni-plugins "$root@v$1"
    for p in main/{bridge,dummy,host-device,ipvlan,loopback,macvlan,ptp,tap,vlan} ipam/{dhcp,host-local,static} \
        meta/{bandwidth,firewall,portmap,sbr,tuning,vrf}; do
        quiet go build -p 2 -ldflags "-s -w -X $root/pkg/utils/buildversion.BuildVersion=v$1" -o "$2/cni/${p#*/}" "$root/plugins/$p"
    done
}

build_busybox() {
    local r=$tmp/busybox-root applet
    unpack "$tmp/busybox-deb" bookworm busybox-static "$1"
    mkdir -p "$r"/{bin,dev,etc,proc,root,sys,tmp,usr/bin}
    chmod 1777 "$r/tmp"
    cp "$tmp/busybox-deb/bin/busybox" "$r/bin/busybox"
    for applet in $("$r/bin/busybox" --list); do
        [ "$applet" = busybox ] || ln "$r/bin/busybox" "$r/bin/$applet"
    done
    printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$r/etc/passwd"
    printf 'root:x:0:\nnobody:x:65534:\n' >"$r/etc/group"
    add_image "$tmp/busybox-image" "$r" \
        '{"Env":["PATH=/usr/bin:/bin"],"Cmd":["sh"]}' docker.io/library/busybox:latest "docker.io/library/busybox:$1"
    pack_images "$2/images/busybox.tar" "$tmp/busybox-image"
}

# The first process of a pod: it waits, collects orphans, and leaves when asked to.
build_pause() {
    need gcc libc6-dev
    local r=$tmp/pause-root
    mkdir -p "$r"
    cat >"$tmp/pause.c" <<'C'
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

int main(void) {
    sigset_t all;
    int got;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    while (sigwait(&all, &got) == 0) {
        if (got == SIGTERM || got == SIGINT)
            return 0;
        while (got == SIGCHLD && waitpid(-1, NULL, WNOHANG) > 0)
            continue;
    }
    return 1;
}
C
    gcc -Os -static -s -o "$r/pause" "$tmp/pause.c"
    # The tags that the supported containerds pin by default, and one that none does. Each is an image of its own,
    # by its label, so that a test sees which of them a sandbox was made from.
    local tag
    for tag in "registry.k8s.io/pause:$1" "registry.k8s.io/pause:$1".{1,2} purlin.test/pause:1; do
        add_image "$tmp/pause-image" "$r" "{\"Entrypoint\":[\"/pause\"],\"User\":\"65535:65535\",\"Labels\":{\"tag\":\"$tag\"}}" "$tag"
    done
    pack_images "$2/images/pause.tar" "$tmp/pause-image"
}

# Archives as `docker save` writes them; the same input gives the same bytes.
plain_tar() { tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --format=gnu "$@"; }

# add_image FOLDER ROOT CONFIG TAG.. : ROOT as an image of one layer, beside what FOLDER already holds.
add_image() {
    local folder=$1 root=$2 config=$3 layer id tags
    shift 3
    mkdir -p "$folder"
    plain_tar -C "$root" -cf "$folder/new" .
    layer=$(sha256sum <"$folder/new" | cut -d ' ' -f 1)
    mv "$folder/new" "$folder/$layer.tar"
    printf '{"architecture":"%s","os":"linux","created":"1970-01-01T00:00:00Z","config":%s,"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
        "$(dpkg --print-architecture)" "$config" "$layer" >"$folder/new"
    id=$(sha256sum <"$folder/new" | cut -d ' ' -f 1)
    mv "$folder/new" "$folder/$id.json"
    tags=$(printf ',"%s"' "$@")
    printf '{"Config":"%s.json","RepoTags":[%s],"Layers":["%s.tar"]}\n' "$id" "${tags#,}" "$layer" >>"$folder/entries"
}

# pack_images ARCHIVE FOLDER
pack_images() {
    printf '[%s]' "$(paste -sd, "$2/entries")" >"$2/manifest.json"
    rm "$2/entries"
    plain_tar -C "$2" -cf "$1" .
}

# ---- the loop -------------------------------------------------------------------------------------------------

build() {
    local name=$1 version key began f
    version=$(version_of "$name")
    key="$name $version recipe $recipe go $(go env GOVERSION)"
    if [ "$(head -n 1 "$out/stamps/$name" 2>/dev/null)" = "$key" ] &&
        tail -n +2 "$out/stamps/$name" | (while read -r f; do [ -e "$out/$f" ] || exit 1; done); then
        say "$name $version: cached"
        return
    fi
    began=$SECONDS
    local d=$tmp/$name
    mkdir -p "$d"/{bin,cni,images}
    local rc
    set +e # a list such as `recipe || die` would switch -e off inside the recipe
    (
        set -e
        "build_${name//[-.]/_}" "$version" "$d"
    )
    rc=$?
    set -e
    [ "$rc" = 0 ] || die "$name $version: failed, nothing of it was installed"
    rm -f "$out/stamps/$name"
    (cd "$d" && find . -type f -printf '%P\n' | sort) >"$tmp/files"
    while read -r f; do
        mkdir -p "$out/$(dirname "$f")"
        mv -f "$d/$f" "$out/$f" # same file system: a running test sees the old file or the new one
    done <"$tmp/files"
    { printf '%s\n' "$key"; cat "$tmp/files"; } >"$tmp/stamp"
    mv -f "$tmp/stamp" "$out/stamps/$name"
    say "$name $version: built in $((SECONDS - began)) s"
}

[ "$(id -u)" = 0 ] || die 'run it as root: it installs Debian packages'
command -v go >/dev/null || die 'put Go on PATH'
names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(awk 'NF { print $1 }' <<<"$peers")
for name in "${names[@]}"; do
    [ -n "$(version_of "$name")" ] || die "no peer is called $name; there are: $(awk 'NF { print $1 }' <<<"$peers" | tr '\n' ' ')"
done
# What the tests call beside the peers, and what cached peers are linked with.
need ca-certificates iproute2 iptables iputils-ping jq libseccomp2 libyajl2 nftables procps strace util-linux
for name in "${names[@]}"; do build "$name"; done
