/**
 * Thrown when a person could not be connected to a server. The message is a sentence for that person. It contains no secrets and no texts
 * of the server.
 */
export class ConnectError extends Error {
  override name = 'ConnectError';
}
