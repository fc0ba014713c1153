import type { Redis } from 'ioredis';

/** Streams of connections whose commands wait to be written. */
const corkedStreams = new WeakSet<object>();

/** Makes the commands that are sent in the rest of this turn of the event loop go to the socket together, in their order. */
export function gatherWrites(redis: Redis): void {
  // There is no stream before the first try to connect, whatever the library's types say.
  const stream: Redis['stream'] | undefined = redis.stream;
  if (stream === undefined || corkedStreams.has(stream)) return;
  corkedStreams.add(stream);
  stream.cork();
  setImmediate(() => {
    corkedStreams.delete(stream);
    stream.uncork();
  });
}
