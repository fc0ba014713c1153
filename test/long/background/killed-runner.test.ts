import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { expect, it } from 'vitest';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { shareCluster } from '../../helpers/cluster/share-cluster.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { startRedis } from '../../helpers/servers/start-redis.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';
import { openTestWebhooks } from '../../helpers/webhooks/open-test-webhooks.ts';

async function start(starting: Promise<Cluster>) {
  const cluster = stopAfterTest(await starting);
  const client = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
  /** What the ledger has of its key. */
  const used = async () => (await readUsage(cluster.prefix)).filter(({ key }) => key.id === cluster.keyId);
  return { cluster, client, used, runner: await cluster.addBatchRunner() };
}

/** Begins a response in the background, and follows its stream until it ends. */
async function follow(client: OpenAI, script: string) {
  const input = `Tell a story.\n[demo ${script}]`;
  const stream = await client.responses.create({ model: 'demo', input, background: true, stream: true });
  const seen: ResponseStreamEvent[] = [];
  const ended = (async () => {
    for await (const event of stream) seen.push(event);
  })();
  ended.catch(() => undefined);
  await until(() => seen.length > 20);
  const [created] = seen;
  if (created?.type !== 'response.created') throw new Error('it does not begin with response.created');
  return { id: created.response.id, seen, ended };
}

const textOf = (events: readonly ResponseStreamEvent[]): string =>
  events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');

const numbersOf = (events: readonly ResponseStreamEvent[]): number[] =>
  events.map((event) => ('sequence_number' in event ? event.sequence_number : -1));

it('a response whose runner is killed is made anew by another one, and no stream mixes the two', async () => {
  const { cluster, client, used, runner } = await start(shareCluster());
  const { add, deliveries } = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
  const { endpoint } = await add('http://127.0.0.1:9/', { events: ['response.*'] });
  const { id, seen, ended } = await follow(client, 'rate=20 tokens=200');
  await runner.kill();
  await cluster.addBatchRunner();
  // Those who have seen events of the first attempt get none of the second.
  await expect(ended).rejects.toMatchObject({ code: 'response_begun_anew' });
  const last = Math.max(...numbersOf(seen));
  const gone = client.responses.retrieve(id, { stream: true, starting_after: last });
  const refusal = { status: 400, code: 'response_begun_anew', param: 'starting_after' };
  await expect(gone).rejects.toMatchObject(refusal);
  // Those who have seen none of it notice nothing.
  const fromOpening: ResponseStreamEvent[] = [];
  for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: 2 }))
    fromOpening.push(event);
  const response = await client.responses.retrieve(id);
  expect(response.status).toBe('completed');
  expect(textOf(fromOpening)).toBe(response.output_text);
  const numbers = numbersOf(fromOpening);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers[0]).toBeGreaterThan(last);
  const whole = client.responses.stream({ response_id: id });
  expect((await whole.finalResponse()).output_text).toBe(response.output_text);
  await until(async () => expect(await used()).toMatchObject([{ outcome: 'done' }]));
  const events = async () => (await deliveries.list(endpoint.id, { limit: 9 })).map(({ type }) => type);
  await until(async () => expect(await events()).toEqual(['response.completed']));
});

it('a response goes on while its runner stops', async () => {
  const { client, used, runner } = await start(shareCluster());
  const { id, seen, ended } = await follow(client, 'rate=50 tokens=80');
  await runner.stop();
  await ended;
  expect(seen.at(-1)?.type).toBe('response.completed');
  expect(numbersOf(seen)).toEqual(seen.map((_, at) => at));
  expect(textOf(seen)).toBe((await client.responses.retrieve(id)).output_text);
  await until(async () => expect(await used()).toHaveLength(1));
});

it('a response and its stream go on after a restart of Redis', async () => {
  const redis = stopAfterTest(await startRedis());
  const { client } = await start(startCluster({ redisUrl: redis.url }));
  const { id, seen, ended } = await follow(client, 'rate=20 tokens=160');
  await redis.restart();
  await ended;
  expect(seen.at(-1)?.type).toBe('response.completed');
  expect(numbersOf(seen)).toEqual(seen.map((_, at) => at));
  const response = await client.responses.retrieve(id);
  expect([response.status, textOf(seen)]).toEqual(['completed', response.output_text]);
});
