/*
 * The contract between the console's pages and its API: connections to MCP servers. The rules of `account.ts` apply.
 */

/**
 * `GET /connections`: the MCP servers that people connect to, as they stand for the signed-in person. `POST /connections/<server>` answers
 * `{ url }`: the address at which they grant access, and from which they come back to the page with `state`, and `code` or `error`, and maybe
 * `iss`. `POST /connections` with these as ConnectionAnswer connects them, and answers `{ server }`. `DELETE /connections/<server>`
 * disconnects them. 422 `not_connected` says why one of these was not possible.
 */
export interface Connection {
  server: string;
  /** The host of the server. */
  host: string;
  /** `expired`: the person must connect again. */
  state: 'connected' | 'expired' | 'none';
  connectedAt?: number;
}

/** What an authorization server answers by way of the browser (RFC 6749, 4.1.2; RFC 9207). */
export interface ConnectionAnswer {
  state: string;
  code?: string;
  iss?: string;
}
