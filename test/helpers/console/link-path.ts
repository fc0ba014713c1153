/**
 * Returns the path of a one-time link below the console's API.
 * @param link its address from the API
 */
export function linkPath(link: unknown): string {
  return `/links/${String(link).split('/link/')[1] ?? ''}`;
}
