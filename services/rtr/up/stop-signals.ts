import { exitOnBrokenPipe } from '../commands/exit-on-broken-pipe.ts';

/** Milliseconds after the first stop signal within which further signals count as the same signal. */
const sameSignalMs = 1_000;

/**
 * Converts signals of the operating system into two abort signals for a running cluster. `stop` aborts at the first Ctrl-C, SIGTERM or
 * hang-up of the terminal, or when a parent process with an IPC channel ends. `kill` aborts at a later event of these.
 */
export function createStopSignals(): { stop: AbortSignal; kill: AbortSignal } {
  const stop = new AbortController();
  const kill = new AbortController();
  let stoppedAt: number | undefined;
  const onSignal = () => {
    if (stoppedAt !== undefined && performance.now() - stoppedAt > sameSignalMs) kill.abort();
    stoppedAt ??= performance.now();
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) process.on(signal, onSignal);
  // Writing fails after the terminal was closed. Then the children must be stopped, too.
  process.stdout.off('error', exitOnBrokenPipe);
  for (const output of [process.stdout, process.stderr]) output.on('error', onSignal);
  return { stop: stop.signal, kill: kill.signal };
}
