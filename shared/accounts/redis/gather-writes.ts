import type { Redis } from 'ioredis';

/** Connections whose commands wait to be written. */
const gathering = new WeakSet<object>();

/** Has the commands that this turn of the event loop sends, from now on, written to the socket together. Their order stays. */
export function gatherWrites(redis: Redis): void {
  // There is none before the first attempt to connect, whatever the library's types say.
  const stream: Redis['stream'] | undefined = redis.stream;
  if (stream === undefined || gathering.has(stream)) return;
  gathering.add(stream);
  stream.cork();
  setImmediate(() => {
    gathering.delete(stream);
    stream.uncork();
  });
}
