import type { CreateEmbeddingResponse } from 'openai/resources/embeddings';
import { beforeAll, describe, expect, it } from 'vitest';
import { embedText } from '#services/demo-engine/vectors/embed-text.ts';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { engineState, post } from '../../helpers/clients/keyed-requests.ts';
import { commonIngress } from '../../helpers/cluster/common-ingress.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import type { ServiceProcess } from '../../helpers/processes/start-process.ts';
import { until } from '../../helpers/until.ts';

/** Ten thousand texts of two tokens each: a number below a thousand is one token, and a space with a word another. */
const texts = Array.from({ length: 10_000 }, (_, at) => `${at % 1000} apples`);

const model = 'splitter';

let engineUrl: string;
let doomed: ServiceProcess;
const cluster = useCluster({ ingress: commonIngress() });
beforeAll(async () => {
  // A part takes a while, so that a worker can be killed while it serves one.
  const engine = { DEMO_MODELS: model, DEMO_OPTIONS: 'rate=0 delay=600' };
  ({ engineUrl, worker: doomed } = await cluster.addEngine(engine, { SLOTS: '2' }));
  await Promise.all([1, 2].map(() => cluster.addWorker({ ENGINE_URL: engineUrl, SLOTS: '2' })));
});

function embed(body: object, requestId: string, signal?: AbortSignal): Promise<Response> {
  const asked = { model, dimensions: 8, ...body };
  const headers = { 'x-request-id': requestId };
  return post({ ...cluster, path: '/openai/embeddings', body: asked, headers, ...(signal && { signal }) });
}

async function recordsOf(requestId: string) {
  return (await readUsage(cluster.prefix)).filter(({ id }) => id === requestId);
}

/** Expects that each vector is that of its own text, computed by the engine's function. */
function expectInOrder({ data }: CreateEmbeddingResponse): void {
  expect(data).toHaveLength(texts.length);
  const wrong = data.filter(({ index, embedding }, at) => {
    const own = embedText(texts[at] ?? '', 8);
    return index !== at || embedding.some((number, each) => number !== own[each]);
  });
  expect(wrong).toEqual([]);
}

const busyWorkers = async (): Promise<number> => (await engineState({ engineUrl })).active;

describe('ten thousand texts', () => {
  it('are shared by the workers, and answered in order, billed once, although one of them is killed', async () => {
    const asked = embed({ input: texts }, 'split-killed');
    await until(async () => expect(await busyWorkers()).toBeGreaterThan(4));
    doomed.child.kill('SIGKILL');
    const answer = await asked;
    expect(answer.status).toBe(200);
    expect(Number(answer.headers.get('x-rtr-attempts'))).toBeGreaterThan(0);
    const whole = (await answer.json()) as CreateEmbeddingResponse;
    expectInOrder(whole);
    expect(whole.model).toBe(model);
    expect(whole.usage).toEqual({ prompt_tokens: 20_000, total_tokens: 20_000 });
    await until(async () => {
      const records = await recordsOf('split-killed');
      const counts = { promptTokens: 20_000, completionTokens: 0, cost: 20_000 * 1_000 };
      expect(records).toMatchObject([{ operation: 'embed', outcome: 'done', ...counts }]);
      // Forty parts, and the parts of the killed worker once more.
      expect(records[0]?.attempts).toBeGreaterThan(40);
    });
  });

  it('are answered in base64 as well', async () => {
    const answer = await embed({ input: texts.slice(0, 100), encoding_format: 'base64' }, 'split-coded');
    const { data } = (await answer.json()) as { data: { index: number; embedding: string }[] };
    expect(data.map(({ index }) => index)).toEqual(data.map((_, at) => at));
    const last = Buffer.from(data.at(-1)?.embedding ?? '', 'base64');
    const numbers = Array.from({ length: 8 }, (_, at) => last.readFloatLE(at * 4));
    expect(numbers).toEqual(embedText(texts[99] ?? '', 8));
  });

  it('stop being served when their client leaves', async () => {
    const client = new AbortController();
    const asked = embed({ input: texts }, 'split-left', client.signal);
    await until(async () => expect(await busyWorkers()).toBeGreaterThan(0));
    client.abort();
    await expect(asked).rejects.toThrow();
    await until(async () => expect(await busyWorkers()).toBe(0));
    await until(async () => expect(await recordsOf('split-left')).toMatchObject([{ outcome: 'cancelled' }]));
  });

  it('fail with the error of the part that fails', async () => {
    const asked = await embed({ input: texts, demo: { fault: '500' } }, 'split-failed');
    expect([asked.status, await asked.json()]).toMatchObject([502, { error: { code: 'upstream_failed' } }]);
    await until(async () => expect(await busyWorkers()).toBe(0));
    await until(async () =>
      expect(await recordsOf('split-failed')).toMatchObject([{ outcome: 'failed', promptTokens: 0, cost: 0 }]),
    );
  });
});
