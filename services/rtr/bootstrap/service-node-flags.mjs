/**
 * Node's command-line flags for every service:
 *
 * - a larger young generation (32 MiB semi-spaces), in which the short-lived objects of concurrent requests die instead of being copied;
 * - no pretenuring: during warm-up V8 may otherwise decide to allocate objects of requests in the old generation. There each object keeps
 *   its whole request in memory until the next full collection;
 * - no flushing of code and of object shapes while idle: otherwise the first requests after an idle time would start in the interpreter,
 *   and take three times as long. Because of this flag, a service keeps the memory that it had under load;
 * - a collection of young objects for every 16 MiB of buffers outside of V8's heap that these objects hold. Otherwise the buffers read from
 *   sockets in a flood would grow to 64 MiB, which the process never returns to the system. (V8 derives the 16 MiB from this flag. The flag
 *   would also set the size of the semi-spaces, but the first flag sets that size.);
 * - marking from 90 % of the heap's limit on: with a young generation of this size, marking would otherwise begin again right after each
 *   collection.
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
