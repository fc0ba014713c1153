/**
 * Node's command-line flags for every service, in this order:
 *
 * - A larger young generation (semi-spaces of 32 MiB). Most objects of concurrent requests are garbage before V8 would copy them.
 * - No pretenuring. Otherwise V8 may decide during warm-up to allocate objects of requests in the old generation. Each such object keeps
 *   its whole request in memory until the next full collection.
 * - No flushing of code and of object shapes while idle (two flags). Otherwise the first requests after an idle time would run in the
 *   interpreter and take three times as long. In return, an idle service keeps the memory that it used under load.
 * - A young-generation collection for every 16 MiB of buffers outside V8's heap that young objects hold. Otherwise buffers read from
 *   sockets would grow to 64 MiB in a flood of requests, and the process would never return this memory to the system. V8 derives the
 *   16 MiB from the value 4. The flag also sets the default size of the semi-spaces, which the first flag overrides.
 * - Marking starts at 90 % of the heap limit (two flags). With a young generation of this size, marking would otherwise start again right
 *   after each collection.
 *
 * See docs/decisions/0007-node-flags.md and docs/decisions/0021-long-strings.md.
 * @type {readonly string[]}
 */
export const serviceNodeFlags = [
  '--max-semi-space-size=32',
  '--no-allocation-site-pretenuring',
  '--no-flush-bytecode',
  '--no-memory-reducer-favors-memory',
  '--scavenger-max-new-space-capacity-mb=4',
  '--incremental-marking-soft-trigger=90',
  '--incremental-marking-hard-trigger=90',
];
