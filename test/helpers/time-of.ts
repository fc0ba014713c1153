/** Measures the milliseconds of something that blocks; for `least`. */
export function timeOf(run: () => void): () => Promise<number> {
  return () => {
    const begin = performance.now();
    run();
    return Promise.resolve(performance.now() - begin);
  };
}
