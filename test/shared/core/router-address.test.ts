import { describe, expect, it } from 'vitest';
import { resolveRouterAddress } from '#shared/core/router-address.ts';

const requestTo = (host: string | undefined) => ({ protocol: 'http', get: () => host });

const unchanged = ['router:8484', 'localhost', '127.0.0.1:8484', '[::1]:8484', 'llm.example.com', 'llm.example.com.'];
const hosts = [
  ...[...unchanged, 'xn--mnchen-3ya.example', 'my_router-2.internal:65535'].map((host) => [host, host] as const),
  ['[2001:DB8::1]', '[2001:db8::1]'],
  ['[::ffff:192.0.2.1]', '[::ffff:c000:201]'],
  ['LLM.Example.com:80', 'llm.example.com'],
] as const;

const others = [
  undefined,
  ...'|[|a b|a:99999|a:|:8484|a:b|a:1:2|a,b|a/|a/b|a?|a?b|a#|a#b|a\\b'.split('|'),
  ...'a@evil.org|a:b@evil.org|@evil.org|a%2eb|%61'.split('|'),
  ...'::1|[]|[::1|[::1]x|[fe80::1%eth0]|[1.2.3.4]|[::1]:|1.2.3.4.5|256.1.1.1|0x7f.1|2130706433|a\tb'.split('|'),
  ...'m\u00FCnchen.example|a\u3002b|\uFF45vil.org|evil.org\u2215x'.split('|'),
];

describe('the address of the router', () => {
  it('is the public one if it is set, whatever host a client names', () => {
    expect(resolveRouterAddress(requestTo('['), 'https://llm.example.com/')).toBe('https://llm.example.com');
  });

  it.each(hosts)('is that of a request to %s', (host, named) => {
    expect(resolveRouterAddress(requestTo(host), undefined)).toBe(`http://${named}`);
  });

  it.each(others)('is refused for a request to %o', (host) => {
    const resolve = () => resolveRouterAddress(requestTo(host), undefined);
    expect(resolve).toThrow('The header `Host` is not the name of a host.');
  });
});
