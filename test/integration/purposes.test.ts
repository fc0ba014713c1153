import { describe, expect, it } from 'vitest';
import { recordOf } from '../helpers/accounts/read-usage.ts';
import { metricOf } from '../helpers/cluster/worker-admin.ts';
import { post } from '../helpers/clients/keyed-requests.ts';
import { recordedRequests } from '../helpers/clients/recorded-requests.ts';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { withRegistry } from '../helpers/cluster/with-registry.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';

const registry = `
models:
  coder:
    targets: [{ model: big }]
    purposes:
      auxiliary: { targets: [{ model: small, tier: gpu }] }
      compaction: { targets: [{ model: gone }] }
    agents:
      Explore: { targets: [{ model: small }] }
  big:
    purposes:
      auxiliary: { targets: [{ model: small }] }
auto:
  only: [big]
  purposes:
    auxiliary: { targets: [{ model: small }] }
prices:
  big: { input: 1000, output: 1000 }
  small: { input: 1, output: 1 }
`;

const cluster = useStarted(() =>
  startCluster({ engine: { DEMO_MODELS: 'big,small' }, ingress: withRegistry(registry) }),
);

let count = 0;
async function send(
  fields: object,
  headers: Record<string, string> = {},
  { key = cluster.key, path = '/openai/chat/completions' } = {},
) {
  const id = `purpose-${++count}`;
  const body = { max_tokens: 20, messages: [{ role: 'user', content: 'hi' }], ...fields };
  const own = { authorization: `Bearer ${key}`, 'x-request-id': id };
  const response = await post({ url: cluster.url, key, path, body, headers: { ...headers, ...own } });
  const model = /"model":"([^"]*)"/.exec(await response.text())?.[1];
  return { id, status: response.status, model, rule: response.headers.get('x-rtr-rule') };
}

const auxiliary = { 'x-rtr-purpose': 'auxiliary' };
const messages = '/anthropic/v1/messages';

describe('a request sent for a purpose', () => {
  it.each<[string, Record<string, string>, string, string | null]>([
    ['coder', auxiliary, 'small', 'models.coder.purposes.auxiliary'],
    ['coder', { 'x-rtr-purpose': 'main' }, 'big', null],
    ['coder', {}, 'big', null],
    ['big', auxiliary, 'small', 'models.big.purposes.auxiliary'],
    ['big', {}, 'big', null],
    ['small', auxiliary, 'small', null],
    ['auto', auxiliary, 'small', 'auto.purposes.auxiliary'],
    ['auto', {}, 'big', null],
  ])('of %s with %j is served by %s, and the answer names the rule', async (model, headers, served, rule) => {
    expect(await send({ model }, headers)).toMatchObject({ status: 200, model: served, rule });
  });

  it('is recorded with its purpose and its rule, if it has them', async () => {
    const title = await send({ model: 'coder' }, auxiliary);
    const turn = await send({ model: 'coder' }, { 'x-rtr-purpose': 'main' });
    const plain = await send({ model: 'coder' });
    const rule = 'models.coder.purposes.auxiliary';
    const record = { asked: 'coder', model: 'small', purpose: 'auxiliary', rule };
    expect(await recordOf(cluster, title.id)).toMatchObject(record);
    const ofTurn = await recordOf(cluster, turn.id);
    expect(ofTurn).toMatchObject({ asked: 'coder', model: 'big', purpose: 'main' });
    expect(ofTurn).not.toHaveProperty('rule');
    expect(await recordOf(cluster, plain.id)).not.toHaveProperty('purpose');
  });

  it.each([
    ['opencode', 'a title', 'small'],
    ['opencode', 'a turn', 'big'],
    ['opencode', 'a title in messages', 'small'],
    ['claude-code', 'a title', 'small'],
    ['claude-code-hints', 'a title', 'small'],
  ])('by the signs of %s: %s goes to the model %s', async (program, name, served) => {
    const request = recordedRequests(program).get(name);
    const place = request?.path.includes('messages') ? { path: messages } : {};
    const body = { ...request?.body, model: 'coder', max_tokens: 20 };
    expect(await send(body, request?.headers, place)).toMatchObject({ status: 200, model: served });
  });

  it('is routed by the rule for the type of its agent', async () => {
    const turn = recordedRequests('claude-code-hints').get('a turn of an agent');
    const { id, rule } = await send({ model: 'coder', stream: true }, turn?.headers, { path: messages });
    expect(rule).toBe('models.coder.agents.Explore');
    expect(await recordOf(cluster, id)).toMatchObject({ model: 'small', purpose: 'subagent', rule });
  });

  it('to count tokens is counted by the model that would serve it', async () => {
    const { id } = await send({ model: 'coder' }, auxiliary, { path: `${messages}/count_tokens` });
    expect(await recordOf(cluster, id)).toMatchObject({ model: 'small', operation: 'count_tokens' });
  });

  it('is named in the log line and in the metrics', async () => {
    const series = 'rtr_rule_requests_total{rule="models.coder.purposes.auxiliary"}';
    const counted = async () => (await metricOf(cluster.adminUrl, series)) ?? 0;
    const before = await counted();
    const { id } = await send({ model: 'coder' }, auxiliary);
    const line = () => cluster.ingress.lines.find(({ msg, requestId }) => msg === 'request served' && requestId === id);
    const named = { purpose: 'auxiliary', rule: 'models.coder.purposes.auxiliary', model: 'small' };
    await until(() => expect(line()).toMatchObject(named));
    expect(await counted()).toBe(before + 1);
  });

  it('is refused if no worker serves the model of the rule, and never uses another model', async () => {
    const answer = await send({ model: 'coder' }, { 'x-rtr-purpose': 'compaction' });
    expect(answer).toMatchObject({ status: 503, rule: null, model: undefined });
  });
});

describe('a key', () => {
  it('that lists a name may use the targets of its rules, and a key that lists a model no others', async () => {
    const { raw: named } = await cluster.addKey({ models: ['coder'] });
    expect(await send({ model: 'coder' }, auxiliary, { key: named })).toMatchObject({ status: 200 });
    expect(await send({ model: 'small' }, {}, { key: named })).toMatchObject({ status: 403 });
    const { raw: listed } = await cluster.addKey({ models: ['big', 'other'] });
    const auto = await send({ model: 'auto' }, auxiliary, { key: listed });
    expect(auto).toMatchObject({ status: 200, model: 'big', rule: null });
  });

  it("has its budget reserved and charged at the price of the rule's model", async () => {
    // 20 tokens of the big model cost two cents, of the small one next to nothing.
    const { raw: key } = await cluster.addKey({ limits: { costPerDay: 0.01 } });
    expect((await send({ model: 'coder' }, { 'x-rtr-purpose': 'main' }, { key })).status).toBe(400);
    const title = await send({ model: 'coder' }, auxiliary, { key });
    expect(title.status).toBe(200);
    const { cost, promptTokens, completionTokens } = await recordOf(cluster, title.id);
    expect(cost).toBe((promptTokens + completionTokens) * 1_000);
  });
});
