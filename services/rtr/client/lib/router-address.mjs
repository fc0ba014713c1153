import { ClientError } from './client-error.mjs';

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * Converts the address that a person entered into the form in which addresses of routers are stored, without a trailing slash. An address
 * without a scheme gets `https`, or `http` if it is an address of this machine.
 * @param {string} entered
 * @returns {string}
 * @throws {ClientError} for an address to which tokens must not be sent
 */
export function toRouterAddress(entered) {
  const hasScheme = /^[a-z][\w+.-]*:\/\//i.test(entered);
  const isLocal = /^(?:localhost|127\.|\[::1\])/.test(entered);
  const urlText = hasScheme ? entered : `${isLocal ? 'http' : 'https'}://${entered}`;
  // Node 20 has no `URL.parse`.
  const url = URL.canParse(urlText) ? new URL(urlText) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new ClientError(`${entered} is not the address of a router. An example: https://llm.example.com`, 2);
  }
  if (url.protocol === 'http:' && !loopback.test(url.hostname)) {
    throw new ClientError(
      `${url.origin} has no TLS, so others on the network could read your tokens. Over http, rtr signs in only to a router on this machine.`,
    );
  }
  url.hash = '';
  url.search = '';
  return url.href.replace(/\/+$/, '');
}

/**
 * Returns an address, followed by the addresses with shorter paths down to the root. People also enter the base URL of an SDK, which is
 * longer than the router's address.
 * @param {string} address address as `toRouterAddress` returns it
 * @returns {string[]}
 */
export function listAddressAndParents(address) {
  const { origin, pathname } = new URL(address);
  const names = pathname.split('/').filter((name) => name !== '');
  return [...names.keys(), names.length].reverse().map((count) => [origin, ...names.slice(0, count)].join('/'));
}
