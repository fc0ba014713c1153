#!/usr/bin/env bash
# get-llama-server: puts llama.cpp's llama-server under .rtr/cache/llama-server, for the tests of its adapter.
#
#   test/helpers/upstreams/get-llama-server.sh      prints the path of a llama-server that runs, or says why there is none
#
# The packages come from Debian's newest suite and are only unpacked, with their own C library, apart from the system.
# Wherever that is not possible (no apt, no network, another architecture) it says so and exits 0: the tests then replay
# recorded answers. LLAMA_SERVER, or a llama-server on the PATH, is used as it is.
set -euo pipefail

say() { printf 'get-llama-server: %s\n' "$*" >&2; }
skip() { say "$*: the tests will replay recorded answers"; exit 0; }

given=${LLAMA_SERVER:-$(command -v llama-server || true)}
if [ -n "$given" ]; then echo "$given"; exit 0; fi

cache=$(cd "$(dirname "$0")/../../.." && pwd)/.rtr/cache/llama-server
if [ -x "$cache/llama-server" ]; then echo "$cache/llama-server"; exit 0; fi

for tool in apt-get dpkg dpkg-deb; do command -v "$tool" >/dev/null || skip "there is no $tool here"; done
mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(RELEASE)' |
  awk '$2 == "Debian" && $3 !~ /security|updates|backports/ { print $1; exit }')
[ -n "$mirror" ] || skip 'this system does not use a Debian mirror'

work=$cache.part
rm -rf "$work"
mkdir -p "$work"/{lists/partial,archives/partial,root}
echo "deb $mirror sid main" >"$work/sources.list"
options=(-o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$work/lists"
  -o "Dir::Cache=$work" -o "APT::Sandbox::User=$(id -un)" -o Acquire::Retries=1 -o Acquire::http::Timeout=20)

say "unpacking llama.cpp from $mirror"
apt-get "${options[@]}" update -qq >/dev/null 2>&1 || skip 'the mirror cannot be reached'
packages=(llama.cpp-tools libllama0 libggml0 libc6 libgcc-s1 libstdc++6 libssl3t64 libgomp1 libzstd1 zlib1g)
(cd "$work" && apt-get "${options[@]}" download -qq "${packages[@]}" >/dev/null 2>&1) || skip 'a package is missing'
for package in "$work"/*.deb; do dpkg-deb -x "$package" "$work/root"; done
rm -rf "$work"/*.deb "$work/lists" "$work/archives" "$work/sources.list" "$work"/*.bin

# The C library's own loader starts the program, so that the system's older one is not asked. The plainest of the CPU
# back ends runs everywhere, and is named because the program looks for back ends beside the loader.
cat >"$work/llama-server" <<'SCRIPT'
#!/bin/sh
root=$(cd "$(dirname "$0")" && pwd)/root
for loader in "$root"/usr/lib/*/ld-linux-*.so.*; do libraries=$(dirname "$loader"); break; done
GGML_BACKEND_PATH=${GGML_BACKEND_PATH:-$(ls "$libraries"/ggml/backends0/libggml-cpu*.so | grep -E 'x64|armv8.0|cpu\.so' | head -n 1)}
export GGML_BACKEND_PATH
exec "$loader" --library-path "$libraries:$libraries/llama:$libraries/ggml/backends0" "$root/usr/bin/llama-server" "$@"
SCRIPT
chmod +x "$work/llama-server"
"$work/llama-server" --version >/dev/null 2>&1 || skip 'the unpacked llama-server does not run'
rm -rf "$cache"
mv "$work" "$cache"
echo "$cache/llama-server"
