/** Whether a parsed body is a JSON-RPC message of one method, as far as its parameters can be looked at. */
export function isMessage(body: unknown, method: string): body is { params?: Record<string, unknown> } {
  return typeof body === 'object' && body !== null && 'method' in body && body.method === method;
}
