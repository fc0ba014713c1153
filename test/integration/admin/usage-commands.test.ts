import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
  const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json', 'x-request-id': id },
    body: JSON.stringify({ model: 'demo', max_tokens: 5, messages: [{ role: 'user', content }] }),
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

  it('overview sums up a span', async () => {
    const lines = await adminCommandsOf(cluster)('usage', 'overview', '--span', '1h');
    expect(lines.find((line) => /^all\b/.test(line))).toMatch(/^all +all +- +2 +1 /);
    expect(lines.find((line) => /^model\b/.test(line))).toMatch(/^model +demo +- +2 +1 /);
    expect(lines.find((line) => /^key\b/.test(line))).toMatch(/^key +test +- +2 +1 /);
    expect(lines.find((line) => /^worker\b/.test(line))).toMatch(/^worker +\S+ +- +\d/);
    expect(lines.join('\n')).toMatch(/Whole answer: p50 \d+ ms, p95 \d+ ms/);
  });
});
