/** Returns by how much the values grow from one to the next: the slope of the straight line that fits them best (least squares). */
export function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let covariance = 0;
  let variance = 0;
  for (const [position, value] of values.entries()) {
    covariance += (position - middle) * (value - mean);
    variance += (position - middle) ** 2;
  }
  return variance === 0 ? 0 : covariance / variance;
}
