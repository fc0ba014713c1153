const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs work that consists of steps. SIGINT and SIGTERM do not end the process during a step.
 * @param work called with a function that returns whether a signal has arrived. It must call this function between two steps
 */
export async function withInterrupt<T>(work: (isInterrupted: () => boolean) => Promise<T>): Promise<T> {
  let isInterrupted = false;
  const interrupt = (): void => {
    isInterrupted = true;
  };
  for (const signal of signals) process.on(signal, interrupt);
  try {
    return await work(() => isInterrupted);
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}
