#!/bin/bash
# check_packages.sh FOLDER [RELEASE ...]: installs the Debian packages of FOLDER (`./wj package`) into fresh trees of Debian
# releases, builds examples there with the release's own hipcc and runs them with `wavejit run`, and builds programs that embed
# wavejit. Needs mmdebstrap, root and a mirror; takes some minutes and 2 GiB a release. Nothing is kept.
set -uo pipefail
[ $# -ge 1 ] || { echo "usage: $0 FOLDER [bookworm|trixie|unstable ...]" >&2; exit 2; }
command -v mmdebstrap >/dev/null || { echo "$0: install mmdebstrap first" >&2; exit 2; }
packages=$(realpath "$1") examples=$(realpath "$(dirname "$0")/../../examples")
ls "$packages"/wavejit_*.deb >/dev/null || { echo "$0: no wavejit_*.deb in $packages; ./wj package makes it" >&2; exit 2; }
shift
[ $# -gt 0 ] || set -- bookworm trixie unstable
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
apt-config dump | grep -E '^Acquire::(https?::[Pp]roxy|Check-Valid-Until)' >"$work/apt.conf" # mmdebstrap does not read the machine's own

cat >"$work/inside" <<'TEXT'
set -ex
dpkg -i /packages/*.deb
wavejit doctor
for name in saxpy reduction device_printf; do
    hipcc -O3 -std=c++17 --offload-arch=gfx90a /examples/$name.hip -o /tmp/$name
    wavejit run /tmp/$name
done
for file in /usr/bin/wavejit /usr/lib/x86_64-linux-gnu/libwavejit.so.0 /usr/lib/x86_64-linux-gnu/wavejit/lib*.so.*; do
    readelf -d $file | grep NEEDED >/tmp/needed
    if grep -vE '\[(libc\.so\.6|libm\.so\.6|libstdc\+\+\.so\.6|libgcc_s\.so\.1|ld-linux-x86-64\.so\.2)\]' /tmp/needed; then exit 1; fi
done
mkdir /tmp/embedder && cd /tmp/embedder
cat >embedder.c <<'C'
#include <wavejit/wavejit.h>
int main(void) {
    wj_context* context = 0;
    char error[256];
    return wj_context_create(0, &context, error, sizeof error);
}
C
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(embedder C)
find_package(wavejit 0.1 REQUIRED)
foreach(kind wavejit static)
  add_executable(with_${kind} embedder.c)
  target_link_libraries(with_${kind} PRIVATE wavejit::${kind})
endforeach()
CMAKE
cc -o with_pkg_config embedder.c $(pkg-config --cflags --libs wavejit)
./with_pkg_config
cmake -B build
cmake --build build
build/with_wavejit
build/with_static
# Python finds the library, takes a program's kernels and arrays; nothing of it is left behind.
python3 -c '
import wavejit
gpu = wavejit.Context(target="gfx90a", threads=1)
assert len(gpu.load("/tmp/saxpy")) and gpu.array([1.0, 2.0]).numpy()[1] == 2
'
dpkg -r python3-wavejit wavejit libwavejit-dev libwavejit0
test ! -e /usr/lib/python3/dist-packages/wavejit
TEXT

failed=0
for release in "$@"; do
    if mmdebstrap --variant=apt --format=null --aptopt="$work/apt.conf" --aptopt='APT::Install-Recommends "false"' \
        --include=hipcc,libamdhip64-dev,pkg-config,gcc,libc6-dev,cmake,make,python3-numpy \
        --customize-hook='mkdir "$1/packages" "$1/examples"' --customize-hook="copy-in $packages/. /packages" \
        --customize-hook="copy-in $examples/. /examples" --customize-hook="upload $work/inside /inside" \
        --customize-hook='env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot "$1" sh /inside' \
        "$release" >"$work/log" 2>&1; then
        echo "ok      $release"
    else
        tail -30 "$work/log"
        echo "FAILED  $release"
        failed=1
    fi
done
exit $failed
