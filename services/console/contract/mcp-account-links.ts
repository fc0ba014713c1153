/*
 * The contract between the console's pages and its API: MCP account links. The rules of `conventions.ts` apply.
 */

/**
 * `GET /connections`: the MCP servers to which people link accounts, each with the state of the signed-in person's link.
 * `POST /connections/<server>` answers `{ url }`, the address at which the person grants access. That address redirects back to the page
 * with `state`, `code` or `error`, and possibly `iss`. `POST /connections` with these as an AuthorizationResponse links the account, and
 * answers `{ server }`. `DELETE /connections/<server>` unlinks it. 422 `not_connected` says why an account could not be linked.
 */
export interface McpAccountLink {
  server: string;
  host: string;
  /** `expired`: the person must link the account again. */
  state: 'connected' | 'expired' | 'none';
  connectedAt?: number;
}

/** The answer of an authorization server, which the browser passes on (RFC 6749, 4.1.2; RFC 9207). */
export interface AuthorizationResponse {
  state: string;
  code?: string;
  iss?: string;
}
