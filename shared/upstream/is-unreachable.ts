const codes = new Set([
  'ECONNREFUSED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether an error says that no connection came about: nobody listens there, or the host cannot be found. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // With several addresses for one host, each has its own error.
  if (error instanceof AggregateError && error.errors.some(isUnreachable)) return true;
  return 'code' in error && typeof error.code === 'string' && codes.has(error.code);
}
