#!/bin/bash
# check_packages.sh FOLDER [RELEASE ...]: installs the Debian packages of FOLDER (`./wj package`) into fresh trees of Debian
# releases, builds examples there with the release's own hipcc and runs them with `wavejit run`. Needs mmdebstrap, root and
# a mirror; takes some minutes and 2 GiB a release. Nothing is kept.
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
cc -x c -o /tmp/embedder - $(pkg-config --cflags --libs wavejit) <<'C'
#include <wavejit/wavejit.h>
int main(void) {
    wj_context* context = 0;
    char error[256];
    return wj_context_create(0, &context, error, sizeof error);
}
C
/tmp/embedder
dpkg -r wavejit libwavejit-dev libwavejit0
TEXT

failed=0
for release in "$@"; do
    if mmdebstrap --variant=apt --format=null --aptopt="$work/apt.conf" --aptopt='APT::Install-Recommends "false"' \
        --include=hipcc,libamdhip64-dev,pkg-config,gcc,libc6-dev \
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
