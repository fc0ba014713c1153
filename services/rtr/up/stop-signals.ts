/** A further signal within this time counts as part of the first. */
const repeatAfterMs = 1_000;

/**
 * Turns signals into two abort signals for a running cluster: `stop` at the first Ctrl-C, SIGTERM, hang-up of the terminal, or
 * end of the parent process with an IPC channel; `kill` at a later one.
 */
export function stopSignals(): { stop: AbortSignal; kill: AbortSignal } {
  const stop = new AbortController();
  const kill = new AbortController();
  let stoppedAt: number | undefined;
  const onSignal = () => {
    if (stoppedAt !== undefined && performance.now() - stoppedAt > repeatAfterMs) kill.abort();
    stoppedAt ??= performance.now();
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) process.on(signal, onSignal);
  // Writing to a closed terminal fails; the children must be stopped even so.
  for (const output of [process.stdout, process.stderr]) output.on('error', onSignal);
  return { stop: stop.signal, kill: kill.signal };
}
