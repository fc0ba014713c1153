import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/*
 * Loaded into a service before its own code (`node --import`), so that its memory can be read after a garbage collection. Sleeps until its
 * parent asks, and ends the service when the parent is gone.
 */

/** Bytes from `process.memoryUsage()` right after a full garbage collection. */
export interface ProbedMemory {
  rss: number;
  heapUsed: number;
  /** Buffers and other memory that JavaScript holds outside of its heap. */
  external: number;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('message', () => {
  collect();
  collect();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ rss, heapUsed, external } satisfies ProbedMemory);
});
process.on('disconnect', () => process.exit());
// The channel must not keep an ended service alive.
process.channel?.unref();
