# Shared by the scripts of cluster/ and by Tests/run; sourced, not run.

# Libraries that the build needs, as Debian names them.
build_packages=(libuv1-dev libwslay-dev libhttp-parser-dev libssl-dev libzmq3-dev libcurl4-openssl-dev)

say() { printf '\033[1m==> %s\033[0m\n' "$*"; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Installs the Debian packages among its arguments that are missing; asks for nothing when all are there.
need_packages() {
    local missing=() package root=()
    if ! command -v dpkg-query >/dev/null; then
        say "not a Debian system: make sure that you have $*"
        return
    fi
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" = 'install ok installed' ] || missing+=("$package")
    done
    [ "${#missing[@]}" -eq 0 ] && return
    say "installing ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "neither root nor sudo: please install ${missing[*]}"
        root=(sudo)
    fi
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" && return
    "${root[@]}" apt-get update || fail 'apt-get update did not work: is there a network?'
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" ||
        fail "could not install ${missing[*]}"
}

# Stops with advice unless a Swift that can build this is on the path.
need_swift() {
    local version
    command -v swift >/dev/null ||
        fail 'no swift on the path: install Swift 6.2 or newer from https://www.swift.org/install/linux/'
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
    set -- $version
    [ "$#" -eq 2 ] || fail 'swift --version says nothing that I understand'
    if [ "$1" -lt 6 ] || { [ "$1" -eq 6 ] && [ "$2" -lt 2 ]; }; then
        fail "Swift $1.$2 is too old: install Swift 6.2 or newer from https://www.swift.org/install/linux/"
    fi
}

unpack_etcd() {
    (cd "$1" && apt-get download etcd-server >/dev/null && dpkg-deb -x etcd-server_*.deb . && rm -f ./*.deb)
}

# Sets `etcd` to a program: the one on the path, or Debian's, unpacked below .cache (installed, its package would start
# a server of its own).
need_etcd() {
    local folder=.cache/etcd
    etcd=$(command -v etcd || true)
    if [ -z "$etcd" ] && [ ! -x "$folder/usr/bin/etcd" ]; then
        command -v apt-get >/dev/null || fail 'no etcd on the path, and no Debian to take it from: https://etcd.io'
        say "unpacking Debian's etcd-server"
        mkdir -p "$folder"
        unpack_etcd "$folder" || { apt-get update >/dev/null 2>&1 && unpack_etcd "$folder"; } ||
            fail 'could not get etcd-server: is there a network, and has apt-get update been run?'
    fi
    [ -n "$etcd" ] || etcd=$PWD/$folder/usr/bin/etcd
}
