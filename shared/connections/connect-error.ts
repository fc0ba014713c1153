/** Why a person cannot be connected to a server. The message is a sentence for that person, without secrets and without the server's words. */
export class ConnectError extends Error {
  override name = 'ConnectError';
}
