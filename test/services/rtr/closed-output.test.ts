import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, inject, it } from 'vitest';
import { createKey } from '#shared/accounts/keys/create-key.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';

it.each(['--help', 'doctor --json', 'setup'])(
  'rtr %s ends silently when its output has no reader any more',
  async (command) => {
    const { store, prefix } = await openKeyStore();
    await createKey(store, { kind: 'router', name: 'one', class: 'normal' });
    const servers = { REDIS_URL: inject('redisUrl'), NATS_URL: inject('natsUrl') };
    const env = { PATH: process.env['PATH'], RTR_PREFIX: prefix.replace(/:$/, ''), ...servers };
    const words = ['services/rtr/bootstrap.mjs', ...command.split(' ')];
    const rtr = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    rtr.stdout.destroy();
    const [said, [code]] = await Promise.all([text(rtr.stderr), once(rtr, 'exit')]);
    expect(said).toBe('');
    // A command that has nothing more to do when it prints may end before it detects that.
    expect([0, 141]).toContain(code);
  },
);
