/** The path of a one-time link below the console's API. @param link its address, as the API answers it */
export function linkPath(link: unknown): string {
  return `/links/${String(link).split('/link/')[1] ?? ''}`;
}
