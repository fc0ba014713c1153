import type { Redis } from 'ioredis';

/** The streams that hold back commands until the end of this turn of the event loop. */
const corkedStreams = new WeakSet<object>();

/** Holds back the commands of this turn of the event loop, and then writes them to the socket together, in their order. */
export function gatherWrites(redis: Redis): void {
  // Contrary to the library's types, there is no stream before the first try to connect.
  const stream: Redis['stream'] | undefined = redis.stream;
  if (stream === undefined || corkedStreams.has(stream)) return;
  corkedStreams.add(stream);
  stream.cork();
  setImmediate(() => {
    corkedStreams.delete(stream);
    stream.uncork();
  });
}
