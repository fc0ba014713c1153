/** Where a router of this machine is to be reached from this machine, as `http://127.0.0.1:8484`. */
export function localUrl({ HOST, PORT }: { HOST: string; PORT: number }): string {
  return `http://${reachableHost(HOST)}:${PORT}`;
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
