#!/bin/bash
# deliver.sh install|package|check BUILD FOLDER: puts what a build folder installs, or Debian packages of it, into FOLDER;
# `check` only says whether FOLDER can be written.
# It is made in a folder of another name inside FOLDER and moved when it is whole: on a full disk, or when it is
# interrupted, FOLDER stays as it was. Prints the files of packages.
set -euo pipefail
what=$1 build=$2 folder=$(realpath -m "$3")

die() {
    printf 'wj: %s\n' "$*" >&2
    exit 1
}

made=() # folders that were not there before
for ((at = ${#folder}; at > 0; at = ${#above})); do
    above=${folder:0:at}
    [ ! -e "$above" ] || break
    made+=("$above")
    above=${above%/*}
done
clean() {
    rm -rf "$new"
    # Those that are not empty stay.
    [ ${#made[@]} = 0 ] || rmdir "${made[@]}" 2>/dev/null || true
}
new=$folder/.wavejit-new.$$
trap clean EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$new" 2>/dev/null || die "cannot write to $folder: choose another folder, or become root"

# The last words of a log that tell why.
reason() {
    if tr -s '\n ' ' ' <"$1" | grep -q 'No space left on device\|Disk quota exceeded'; then # CMake wraps its lines
        echo "the disk is full; nothing was changed in $folder"
    else
        tail -3 "$1" >&2
        echo "nothing was changed in $folder ($1 is the whole report)"
    fi
}

[ "$what" = check ] || [ -d "$build" ] || die "there is no build in $build: ./wj build install_parts"
case $what in
install)
    cmake --install "$build" --prefix "$new" >"$build/install.log" 2>&1 || die "not installed: $(reason "$build/install.log")"
    ;;
package)
    (cd "$build" && cpack -G DEB -B "$new" >"$build/package.log" 2>&1) || die "no packages: $(reason "$build/package.log")"
    rm -rf "$new/_CPack_Packages"
    ;;
check) exit 0 ;;
*) die "deliver.sh: '$what' is neither install, package nor check" ;;
esac

trap '' INT TERM HUP # all are moved, or none
cd "$new"
find . -mindepth 1 -type d -printf '%P\0' | while IFS= read -rd '' name; do
    mkdir -p "$folder/$name" || die "$folder/$name cannot be made"
done
find . ! -type d -printf '%P\0' | while IFS= read -rd '' name; do
    mv -fT "$name" "$folder/$name" || die "$folder/$name cannot be written"
    [ "$what" = install ] || printf '%s\n' "$folder/$name"
done
