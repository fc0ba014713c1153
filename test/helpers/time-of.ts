/** Measures the milliseconds of a blocking function; for `least`. */
export function timeOf(run: () => void): () => Promise<number> {
  return () => {
    const begin = performance.now();
    run();
    return Promise.resolve(performance.now() - begin);
  };
}
