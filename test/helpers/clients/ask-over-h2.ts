import { UpstreamHttp } from '#shared/upstream/upstream-http.ts';

/*
 * Sends one request to the upstream at UPSTREAM, then three for a stream that never ends, and aborts these once all of them have begun.
 * Runs as a process of its own, because the certificates that Node trusts are fixed at its start.
 */

const http = new UpstreamHttp({
  url: process.env['UPSTREAM'] ?? '',
  connections: 8,
  connectTimeoutMs: 20_000,
  headers: () => ({ 'content-type': 'application/json' }),
  allowH2: true,
});
await http.get('/models');

const client = new AbortController();
let begun = 0;
const listener = {
  onStart: () => undefined,
  onData: () => {
    begun += 1;
    if (begun === 3) client.abort();
    return 'more' as const;
  },
};
const ask = () =>
  http.send({ path: '/chat', body: [Buffer.from('{}')] }, listener, { firstMs: 30_000, idleMs: 30_000 }, client.signal);
await Promise.allSettled([ask(), ask(), ask()]);
console.log('aborted');
setInterval(() => undefined, 1000);
