#!/usr/bin/env bash
# Installs Chromium for the tests of the console, if the system's package manager needs no password. Without it those tests are
# reported as skipped.
set -euo pipefail
if command -v chromium-headless-shell >/dev/null; then
  exit 0
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo -n); fi
if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
  "${as_root[@]}" apt-get update -qq || true
  for package in chromium-headless-shell chromium; do
    if "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" fonts-dejavu-core >/dev/null; then
      exit 0
    fi
  done
fi
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then
  exit 0
fi
echo 'No Chromium can be had here: the browser tests of the console are skipped.' >&2
