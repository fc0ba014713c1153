import { ClientError } from './client-error.mjs';

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * Returns the address of a router as it is stored, without a slash at its end. An address without a scheme gets `https`, or `http` if it is
 * an address of this machine.
 * @param {string} entered
 * @returns {string}
 * @throws {ClientError} for an address to which tokens must not be sent
 */
export function toRouterAddress(entered) {
  const hasScheme = /^[a-z][\w+.-]*:\/\//i.test(entered);
  const isLocal = /^(?:localhost|127\.|\[::1\])/.test(entered);
  const whole = hasScheme ? entered : `${isLocal ? 'http' : 'https'}://${entered}`;
  // Node 20 has no `URL.parse`.
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new ClientError(`${entered} is no address of a router. An example: https://llm.example.com`, 2);
  }
  if (url.protocol === 'http:' && !loopback.test(url.hostname)) {
    throw new ClientError(
      `${url.origin} has no TLS, so everybody on the way could read your tokens. Over http, only a router on this machine can be signed in to.`,
    );
  }
  url.hash = '';
  url.search = '';
  return url.href.replace(/\/+$/, '');
}

/**
 * Returns an address, and the addresses with shorter paths up to the root, because people also enter the base URL of an SDK.
 * @param {string} address address as `routerAddress` returns it
 * @returns {string[]}
 */
export function withParents(address) {
  const { origin, pathname } = new URL(address);
  const names = pathname.split('/').filter((name) => name !== '');
  return [...names.keys(), names.length].reverse().map((count) => [origin, ...names.slice(0, count)].join('/'));
}
