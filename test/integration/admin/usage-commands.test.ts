import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { adminCommandsOf } from '../../helpers/rtr/admin-commands.ts';
import { until } from '../../helpers/until.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  await ask('first', 'Hello!');
  await ask('second', 'Hi!\n[demo fault=500]');
  await until(async () => (await listed('--limit', '10')).length === 2);
});
afterAll(() => cluster.stop());

async function ask(id: string, content: string): Promise<void> {
  const answer = await post({
    ...cluster,
    body: { model: 'demo', max_tokens: 5, messages: [{ role: 'user', content }] },
    headers: { 'x-request-id': id },
  });
  await answer.text();
}

/** The ids of the requests that a command prints. */
async function listed(...options: string[]): Promise<string[]> {
  const lines = await adminCommandsOf(cluster)('usage', 'requests', ...options, '--json');
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

describe('rtr usage', () => {
  it('requests lists those with an id, with an error code, and of a span', async () => {
    expect(await listed()).toEqual(['second', 'first']);
    expect(await listed('--id', 'first')).toEqual(['first']);
    const [request] = await adminCommandsOf(cluster)('usage', 'requests', '--id', 'first', '--json');
    expect(JSON.parse(request ?? '')).toMatchObject({ outcome: 'done', timeline: [{ end: 'done' }] });
    const failed = await adminCommandsOf(cluster)('usage', 'requests', '--outcome', 'failed', '--json');
    const { code } = JSON.parse(failed[0] ?? '') as { code: string };
    expect(await listed('--code', code)).toEqual(['second']);
    expect(await listed('--code', 'queue_timeout')).toEqual([]);
    expect(await listed('--from', '1h')).toEqual(['second', 'first']);
    expect(await listed('--to', '1h')).toEqual([]);
    await expect(listed('--id', 'third')).rejects.toThrow(/does not exist/);
  });

  it('report sums up hours', async () => {
    const rtr = adminCommandsOf(cluster);
    const hours = ['usage', 'report', '--step', 'hour', '--from', '1h'];
    const byModel = await rtr(...hours);
    expect(byModel[0]).toMatch(/^MODEL +REQUESTS +FAILED +INPUT +OUTPUT +DOLLARS$/);
    expect(byModel[1]).toMatch(/^demo +2 +1 +\d/);
    const byKey = await rtr(...hours, '--by', 'key', '--key', cluster.keyId);
    expect(byKey[1]).toMatch(new RegExp(`^test +${cluster.keyId} +2 +1 `));
    expect(byKey[2]).toMatch(/^all +- +2 +1 /);
    expect(byKey).toHaveLength(3);
    expect(await rtr(...hours, '--by', 'key', '--key', '0123456789ab')).toHaveLength(2);
    // A day unless it is said, in whole hours.
    const { times, groups } = await rtr.json('usage', 'report', '--step', 'hour');
    expect(times).toHaveLength(25);
    expect(times[24] - times[23]).toBe(3_600_000);
    const counts: number[] = groups[0].steps.map((step: { requests: number }) => step.requests);
    expect(counts.slice(0, -2).every((count) => count === 0)).toBe(true);
    expect(counts.slice(-2).reduce((sum, count) => sum + count)).toBe(2);
  });

  it('report refuses hours of what they are not kept by', async () => {
    const rtr = adminCommandsOf(cluster);
    const hours = ['usage', 'report', '--step', 'hour'];
    const unkept = { '--model': 'demo', '--tier': 'gpu', '--purpose': 'main' };
    for (const narrowed of Object.entries(unkept))
      await expect(rtr(...hours, ...narrowed)).rejects.toThrow('Hours can be narrowed by key, team and person alone.');
    await expect(rtr(...hours, '--by', 'tier')).rejects.toThrow('by: This must be one of model, key, team, user.');
    await expect(rtr(...hours, '--from', '30d')).rejects.toThrow(/hours are kept for 8 days/);
    await expect(rtr(...hours, '--key', cluster.keyId)).rejects.toThrow(/must not be model/);
  });

  it('overview sums up a span', async () => {
    const lines = await adminCommandsOf(cluster)('usage', 'overview', '--span', '1h');
    expect(lines.find((line) => /^all\b/.test(line))).toMatch(/^all +all +- +2 +1 /);
    expect(lines.find((line) => /^model\b/.test(line))).toMatch(/^model +demo +- +2 +1 /);
    expect(lines.find((line) => /^key\b/.test(line))).toMatch(/^key +test +- +2 +1 /);
    expect(lines.find((line) => /^worker\b/.test(line))).toMatch(/^worker +\S+ +- +\d/);
    expect(lines.join('\n')).toMatch(/Whole answer: p50 \d+ ms, p95 \d+ ms/);
  });
});
