const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Does work that SIGINT or SIGTERM may end only between two of its steps.
 * @param work does the steps. It gets a function that returns whether a signal has come, and must call the function between two steps
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
