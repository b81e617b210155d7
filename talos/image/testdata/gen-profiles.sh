#!/bin/sh
# A script of our own in the shape of Cozystack's, to try the patch on: extensions are named twice, in a list and in the
# template, and the template has the firmware in another order than the list.
set -eu

work=$(mktemp -d)
PROFILES="installer nocloud"
FIRMWARES="amd-ucode bnx2-bnx2x i915"
EXTENSIONS="drbd zfs"

mkdir -p images/talos/profiles

TALOS_VERSION=$1
export TALOS_VERSION

crane export "ghcr.io/siderolabs/extensions:$TALOS_VERSION" | tar x -O image-digests > "$work/image-digests"

for firmware in $FIRMWARES; do
  name=$(echo "$firmware" | tr '[:lower:]' '[:upper:]' | tr - _)_IMAGE
  image=$(grep -F "/$firmware:" "$work/image-digests")
  export "$name=$image"
done

for extension in $EXTENSIONS; do
  name=$(echo "$extension" | tr '[:lower:]' '[:upper:]' | tr - _)_IMAGE
  image=$(grep -F "/$extension:" "$work/image-digests")
  echo "$extension is $image"
  export "$name=$image"
done

for profile in $PROFILES; do
  echo "writing images/talos/profiles/$profile.yaml"
  cat > images/talos/profiles/$profile.yaml <<EOT
arch: amd64
platform: metal
version: ${TALOS_VERSION}
input:
  kernel:
    path: /usr/install/amd64/vmlinuz
  initramfs:
    path: /usr/install/amd64/initramfs.xz
  baseInstaller:
    imageRef: "ghcr.io/siderolabs/installer:${TALOS_VERSION}"
  systemExtensions:
    - imageRef: ${AMD_UCODE_IMAGE}
    - imageRef: ${I915_IMAGE}
    - imageRef: ${BNX2_BNX2X_IMAGE}
    - imageRef: ${DRBD_IMAGE}
    - imageRef: ${ZFS_IMAGE}
output:
  kind: $profile
EOT
done
rm -r "$work"
