import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig, type Environment } from '#shared/core/load-config.ts';
import { upSettings } from '#services/rtr/config.ts';

const refused: [Environment, string][] = [
  [{ CHAT_FAMILY: 'a/b' }, 'CHAT_FAMILY="a/b" is not valid: must consist of letters, digits, _ and -'],
  [{ RTR_PREFIX: 'a b' }, 'RTR_PREFIX="a b" is not valid: must consist of letters, digits, _ and -'],
  [{ PORT: '8902', ADMIN_PORT: '8902' }, 'ADMIN_PORT="8902" is not valid: must differ from PORT'],
  [{ NATS_URL: 'garbage' }, 'NATS_URL="garbage" is not valid: must be an address like nats://127.0.0.1:4222'],
  [{ REDIS_URL: 'foo' }, 'REDIS_URL="foo" is not valid: must be an address like redis://127.0.0.1:6379'],
  [{ REDIS_URL: 'http://:secret@x' }, 'REDIS_URL is not valid: must be an address like redis://127.0.0.1:6379'],
];

describe('the settings of rtr up', () => {
  it.each(refused)('refuse %j before anything starts', (environment, sentence) => {
    expect(() => loadConfig(upSettings, environment)).toThrow(ConfigError);
    expect(() => loadConfig(upSettings, environment)).toThrow(sentence);
  });

  it('accept several NATS servers', () => {
    const urls = 'nats://a:4222, tls://b:4222';
    expect(loadConfig(upSettings, { NATS_URL: urls }).NATS_URL).toBe(urls);
  });
});
