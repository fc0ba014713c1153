/**
 * Writes a script for a POSIX shell that runs `rtr` with the arguments of the script, from the package that a router serves. It needs Node
 * with npm, and curl, with which the script itself was loaded. The whole script is one function, so that a script that was cut off runs
 * nothing. Its input is the script, so programs get none. The package has the same path each time, so that npm replaces an older one.
 * @param address the router's address, an origin
 * @param spki digest of the public key of the router's certificate, in base64; undefined if an authority has signed it
 */
export function writeInstallScript(address: string, spki: string | undefined): string {
  const trust = spki === undefined ? '' : ` -k --pinnedpubkey 'sha256//${spki}'`;
  return `#!/bin/sh
# Runs the command line of Model Router from the package that a router serves.
set -eu

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

main() {
  router=${quote(address)}
  command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 ||
    fail 'Node 20 or newer with npm is required: install it, for example from https://nodejs.org.'
  node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' ||
    fail "Node 20 or newer is required; this is Node $(node --version)."
  folder=\${XDG_CACHE_HOME:-$HOME/.cache}/model-router
  mkdir -p "$folder"
  curl -fsS${trust} -o "$folder/rtr.$$.tgz" "$router/rtr.tgz" || {
    rm -f "$folder/rtr.$$.tgz"
    fail "The package cannot be loaded from $router."
  }
  mv -f "$folder/rtr.$$.tgz" "$folder/rtr.tgz"
  exec npm exec --yes --package="file:$folder/rtr.tgz" -- rtr "$@" </dev/null
}

main "$@"
`;
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
