/**
 * Node's command-line flags for every service:
 *
 * - a larger young generation (32 MiB semi-spaces), in which the short-lived objects of concurrent requests die instead of being
 *   copied;
 * - no pretenuring: during warm-up V8 may otherwise decide to allocate objects of requests in the old generation, where each
 *   keeps its whole request until the next full collection;
 * - no flushing of code and of object shapes while idle: the first requests after an idle time would start in the interpreter
 *   and take three times as long. In return a service keeps the memory that it had under load;
 * - a collection of young objects for every 16 MiB of buffers that they hold, which lie outside of V8's heap: what is read from
 *   sockets in a flood would grow to 64 MiB, which the process never gives back. (The flag is the default of the first one, from which
 *   V8 derives that bound; the first one is not affected.);
 * - marking from 90 % of the heap's limit on: with a young generation of this size it would begin again right after each collection.
 *
 * @type {readonly string[]}
 * See docs/decisions/0007-node-flags.md and docs/decisions/0021-long-strings.md.
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
