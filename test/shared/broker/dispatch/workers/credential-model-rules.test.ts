import { describe, expect } from 'vitest';
import { openCredentialName } from '#shared/broker/contract/worker-address.ts';
import { CredentialModelRules } from '#shared/broker/dispatch/workers/credential-model-rules.ts';
import type { Tier } from '#shared/core/tier.ts';
import { announce } from '../../../../helpers/broker/announcement.ts';
import type { TestIngress } from '../../../../helpers/broker/broker-parties.ts';
import { livePool } from '../../../../helpers/broker/live-pool.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { until } from '../../../../helpers/until.ts';

const of = (tier: Tier, owner: string) => ({ tier, credentialName: owner, worker: 'w', process: 'p' });

describe('a credential', () => {
  it('of its tier serves any model, and so do workers without a credential', () => {
    const claims = new CredentialModelRules();
    claims.recordModels(of('cloud', 'cloud'), [{ id: 'claude' }], []);
    expect(claims.mayServe(of('cli', 'cli'), 'claude')).toBe(true);
    expect(claims.mayServe(of('gpu', openCredentialName), 'claude')).toBe(true);
  });

  it('with another name takes no model from another tier, and may serve all others', () => {
    const claims = new CredentialModelRules();
    const workers = [of('gpu', 'joe'), of('gpu', 'gpu'), of('cloud', 'ann')].map((address) => {
      const models = [{ id: 'claude', capabilities: [] }];
      return { address, pool: livePool({ tier: address.tier, pool: 'p', models }, []) };
    });
    expect(claims.recordModels(of('cloud', 'cloud'), [{ id: 'claude' }], workers)).toEqual([workers[0]]);
    expect(claims.recordModels(of('cloud', 'cloud'), [{ id: 'claude' }], workers)).toEqual([]);
    expect(claims.recordModels(of('gpu', 'joe'), [{ id: 'qwen' }], workers)).toEqual([]);
    expect(claims.mayServe(of('gpu', 'joe'), 'claude')).toBe(false);
    expect(claims.mayServe(of('gpu', 'joe'), 'qwen')).toBe(true);
    expect(claims.mayServe(of('cloud', 'ann'), 'claude')).toBe(true);
    expect(claims.mayServe(of('cloud', 'ann'), 'qwen')).toBe(true);
  });

  it('with an entry in the registry serves the models of the entry, and no others', () => {
    const claims = new CredentialModelRules();
    claims.recordModels(of('cloud', 'cloud'), [{ id: 'claude-opus' }], []);
    claims.setEntries({ laptops: { models: ['claude-*', 'cat'] }, gpu: { models: [] } });
    expect(claims.mayServe(of('cli', 'laptops'), 'claude-opus')).toBe(true);
    expect(claims.mayServe(of('cli', 'laptops'), 'cat')).toBe(true);
    expect(claims.mayServe(of('cli', 'laptops'), 'cats')).toBe(false);
    expect(claims.mayServe(of('gpu', 'gpu'), 'qwen')).toBe(false);
    expect(claims.mayServe(of('gpu', 'constructor'), 'qwen')).toBe(true);
    // Its models belong to its tier, too.
    claims.recordModels(of('cli', 'laptops'), [{ id: 'cat' }], []);
    expect(claims.mayServe(of('gpu', 'joe'), 'cat')).toBe(false);
  });
});

describe('an announcement', () => {
  const announceModels = (ingress: TestIngress, tier: Tier, owner: string, ids: string[]): void =>
    announce(ingress, of(tier, owner), { models: ids.map((id) => ({ id, capabilities: [] })), pool: owner });
  const modelsOf = ({ workers }: TestIngress, owner: string) =>
    workers.get(`${owner}.w`)?.pool.models.map(({ id }) => id);

  it.for(['before', 'after'])('loses the models of another tier that come %s them', async (order, { ingress }) => {
    const both = [
      () => announceModels(ingress, 'gpu', 'joe', ['claude', 'qwen']),
      () => announceModels(ingress, 'cloud', 'cloud', ['claude']),
    ];
    for (const each of order === 'after' ? both : both.toReversed()) each();
    await until(() => expect(modelsOf(ingress, 'joe')).toEqual(['qwen']));
    expect(modelsOf(ingress, 'cloud')).toEqual(['claude']);
  });

  it('is parsed again if the registry gives a credential other models', async ({ ingress }) => {
    announceModels(ingress, 'cloud', 'cloud', ['claude']);
    announceModels(ingress, 'gpu', 'joe', ['claude', 'qwen']);
    await until(() => expect(modelsOf(ingress, 'joe')).toEqual(['qwen']));
    ingress.workers.setCredentialEntries({ joe: { models: ['claude'] } });
    expect(modelsOf(ingress, 'joe')).toEqual(['claude']);
    ingress.workers.setCredentialEntries({});
    expect(modelsOf(ingress, 'joe')).toEqual(['qwen']);
    expect(modelsOf(ingress, 'cloud')).toEqual(['claude']);
  });

  it('does not count as a sign of life when it is parsed again', async ({ ingress }) => {
    announceModels(ingress, 'gpu', 'joe', ['qwen', 'llama']);
    await until(() => expect(modelsOf(ingress, 'joe')).toEqual(['qwen', 'llama']));
    const before = ingress.workers.get('joe.w')?.lastHeartbeatAt;
    ingress.workers.setCredentialEntries({ joe: { models: ['qwen'] } });
    expect(modelsOf(ingress, 'joe')).toEqual(['qwen']);
    expect(ingress.workers.get('joe.w')?.lastHeartbeatAt).toBe(before);
  });
});
