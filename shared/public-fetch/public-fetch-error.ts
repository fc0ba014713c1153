/**
 * Thrown when a URL could not be fetched. The message continues a sentence that names the URL, such as "its address is not public", and may
 * be shown to clients.
 */
export class PublicFetchError extends Error {
  override name = 'PublicFetchError';
  /** The URL that `allowsUrl` refused; undefined for other reasons. */
  readonly refusedUrl: URL | undefined;

  constructor(message: string, { refused, ...options }: ErrorOptions & { refused?: URL } = {}) {
    super(message, options);
    this.refusedUrl = refused;
  }
}
