import { describe, expect, it, onTestFinished } from 'vitest';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { createLog } from '#shared/core/log.ts';
import { beginKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { keyWith, nothing } from '../../../helpers/accounts/open-limit-keeper.ts';

describe('while Redis is away', () => {
  it('a request is refused, and nothing is left of it to be committed', async () => {
    const { connection, prefix } = beginKeyStore('redis://127.0.0.1:1');
    const errors: unknown[] = [];
    const log = createLog({ service: 'test', level: 'silent', format: 'json' });
    log.error = (...given: unknown[]) => void errors.push(given);
    const keeper = new LimitKeeper(connection.redis, prefix, log);
    onTestFinished(() => keeper.close());
    const refused = keeper.reserve([keyWith({ tokensPerDay: 10 })], nothing);
    await expect(refused).rejects.toMatchObject({ code: 'store_unavailable' });
    await keeper.close();
    expect(errors).toEqual([]);
  });
});
