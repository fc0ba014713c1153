import { describe, expect, it } from 'vitest';
import { routerAddress } from '#shared/core/router-address.ts';

const requestTo = (host: string | undefined) => ({ protocol: 'http', get: () => host });

describe('the address of the router', () => {
  it('is the public one where it is set, whatever host a client names', () => {
    expect(routerAddress(requestTo('['), 'https://llm.example.com/')).toBe('https://llm.example.com');
  });

  it.each(['router:8484', '127.0.0.1:8484', '[::1]:8484', 'llm.example.com'])('is that of a request to %s', (host) => {
    expect(routerAddress(requestTo(host), undefined)).toBe(`http://${host}`);
  });

  it.each(['[', 'a b', 'a:99999', '', undefined])('is not that of a request to %o, which is refused', (host) => {
    expect(() => routerAddress(requestTo(host), undefined)).toThrow('The header `Host` is not the name of a host.');
  });
});
