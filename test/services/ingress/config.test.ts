import { describe, expect, it } from 'vitest';
import { loadConfig } from '#shared/core/load-config.ts';
import { ingressConfig } from '#services/ingress/config.ts';

describe('the settings of the ingress', () => {
  it('accept addresses and networks of proxies', () => {
    const read = (given: object) => loadConfig(ingressConfig, { ...given }).TRUSTED_PROXIES;
    const proxies = ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1'];
    expect(read({ TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1,2001:db8::/32,::1' })).toEqual(proxies);
    expect(read({})).toEqual([]);
    expect(read({ TRUSTED_PROXIES: '2' })).toEqual(['2']);
  });

  it.each(['true', '*', '0', '10', '1,10.0.0.1', '10.0.0.0/33', '10.0.0.0/', 'proxy.example.com', '10.0.0.1/8/8'])(
    'refuse %s as a proxy with a sentence that names the setting',
    (wrong) => {
      expect(() => loadConfig(ingressConfig, { TRUSTED_PROXIES: wrong })).toThrow(/TRUSTED_PROXIES=.* is not valid/);
    },
  );

  it.each(['llm.example.com', 'ftp://llm.example.com', 'https://'])('refuse %s as the public address', (wrong) => {
    expect(() => loadConfig(ingressConfig, { PUBLIC_URL: wrong })).toThrow(/PUBLIC_URL=.* is not valid/);
  });

  const same = [{ CHAT_FAMILY: 'anthropic' }, { CHAT_FAMILY: 'tools' }];
  it.each(same)('refuse the same path segment for two APIs: %o', (wrong) => {
    expect(() => loadConfig(ingressConfig, wrong)).toThrow(/CHAT_FAMILY.* is not valid: must differ/);
  });

  it('refuse a secret that is too short with a sentence that does not repeat it', () => {
    const refused = () => loadConfig(ingressConfig, { SEAL_SECRET: 'hunter2' });
    expect(refused).toThrow(/^SEAL_SECRET is not valid: must be 32 bytes/);
    expect(refused).not.toThrow(/hunter2/);
  });

  it('refuse recordings without a secret from the environment', () => {
    expect(() => loadConfig(ingressConfig, { RECORDINGS: 'on' })).toThrow(/RECORDINGS.*needs SEAL_SECRET/);
    expect(loadConfig(ingressConfig, { RECORDINGS: 'on', SEAL_SECRET: 'ab'.repeat(32) }).RECORDINGS).toBeTruthy();
  });

  it('refuse to pass workers on to a NATS without credentials', () => {
    const relay = { NATS_RELAY_URL: 'ws://127.0.0.1:4223' };
    expect(() => loadConfig(ingressConfig, relay)).toThrow(/NATS_RELAY_URL.*needs NATS_CREDENTIALS/);
    expect(loadConfig(ingressConfig, { ...relay, NATS_CREDENTIALS: 'a.creds' })).toMatchObject(relay);
    expect(() => loadConfig(ingressConfig, { NATS_RELAY_URL: 'nats://127.0.0.1:4222' })).toThrow(/ws:\/\/127/);
  });
});
