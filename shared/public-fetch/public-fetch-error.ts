/** Thrown when a URL could not be fetched. The message is a clause that clients may see, such as "its address is not public". */
export class PublicFetchError extends Error {
  override name = 'PublicFetchError';
  /** The URL that `allowsUrl` refused; undefined for other reasons. */
  readonly refused: URL | undefined;

  constructor(message: string, { refused, ...options }: ErrorOptions & { refused?: URL } = {}) {
    super(message, options);
    this.refused = refused;
  }
}
