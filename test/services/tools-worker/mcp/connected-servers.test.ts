import { describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { createLog } from '#shared/core/log.ts';
import { ConnectedServers } from '#services/tools-worker/mcp/connected-servers.ts';

const log = createLog({ service: 'test', level: 'fatal', format: 'json' });
const url = 'https://notes.test/mcp';
const servers = new ConnectedServers([{ name: 'notes', kind: 'oauth', server: { url, headers: {} } }], {
  maxMessageBytes: 1_000,
  log,
});

describe('servers that people connect to', () => {
  it('are announced as such, without tools, in a form that asks older releases for nothing', () => {
    expect(servers.infos).toEqual([expect.objectContaining({ name: 'notes/*', server: 'notes', passes: [] })]);
  });

  it.each([
    ['of another address', { server: 'notes', url: 'https://other.test/mcp' }],
    ['that are not configured', { server: 'other', url }],
  ])('%s are sent no token', (_, named) => {
    expect(() => servers.run({ ...named, token: 'secret' })).toThrow(RouterError);
    expect(() => servers.run({ server: 'notes', url, token: 'secret' })).not.toThrow();
  });
});
