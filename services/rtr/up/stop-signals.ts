/** A second Ctrl-C that comes within this time belongs to the first. */
const impatientAfterMs = 1_000;

/**
 * Turns signals into the two wishes that one can have of a running cluster: `stop` at the first Ctrl-C, SIGTERM, hang-up of
 * the terminal, or end of the process that started us with an IPC channel; `kill` at a later further one.
 */
export function stopSignals(): { stop: AbortSignal; kill: AbortSignal } {
  const stop = new AbortController();
  const kill = new AbortController();
  let stoppedAt: number | undefined;
  const onSignal = () => {
    if (stoppedAt !== undefined && performance.now() - stoppedAt > impatientAfterMs) kill.abort();
    stoppedAt ??= performance.now();
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) process.on(signal, onSignal);
  // A terminal that has gone cannot be written to; the children must be stopped all the same.
  for (const output of [process.stdout, process.stderr]) output.on('error', onSignal);
  return { stop: stop.signal, kill: kill.signal };
}
