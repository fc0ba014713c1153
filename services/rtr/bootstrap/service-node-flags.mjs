/**
 * Node's command-line flags for every service:
 *
 * - a larger young generation (32 MiB semi-spaces), in which the short-lived objects of concurrent requests die instead of being
 *   copied;
 * - no pretenuring: during warm-up V8 may otherwise decide to allocate objects of requests in the old generation, where each
 *   keeps its whole request until the next full collection;
 * - no flushing of code and of object shapes while idle: the first requests after an idle time would start in the interpreter
 *   and take three times as long. In return a service keeps the memory that it had under load.
 *
 * @type {readonly string[]}
 * See docs/decisions/0007-node-flags.md.
 */
export const serviceNodeFlags = [
  '--max-semi-space-size=32',
  '--no-allocation-site-pretenuring',
  '--no-flush-bytecode',
  '--no-memory-reducer-favors-memory',
];
