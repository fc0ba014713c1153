import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { recordOf } from '../../helpers/accounts/read-usage.ts';
import { get, post as postTo } from '../../helpers/clients/keyed-requests.ts';
import { commonIngress } from '../../helpers/cluster/common-ingress.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';

/*
 * Three models, each of which does something else, on one demo engine behind a real ingress and a real worker.
 */

const models = ['embedder', 'ranker', 'writer', 'judge'];

// The key has only these models, from which "auto" chooses, too.
const cluster = useCluster({ ingress: commonIngress(), key: { models: [...models, 'search'] } });
beforeAll(async () => {
  const operations = 'embedder=embed ranker=rank writer=generate+complete judge=moderate';
  await cluster.addEngine({ DEMO_MODELS: models.join(), DEMO_OPERATIONS: operations });
});

const openai = (apiKey = cluster.key) => new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey, maxRetries: 0 });

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  postTo({ ...cluster, path: `/openai${path}`, body, headers });

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (one: readonly number[], other: readonly number[]): number =>
    one.reduce((sum, number, at) => sum + number * (other[at] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

describe('embeddings, by the official SDK', () => {
  const texts = ['The cat sleeps on the mat.', 'A cat sleeps on a mat.', 'Interest rates rose in March.'];

  it('come in order, one for each text, and similar texts have similar ones', async () => {
    const { data, response } = await openai().embeddings.create({ model: 'embedder', input: texts }).withResponse();
    expect(data).toMatchObject({ object: 'list', model: 'embedder' });
    expect(data.data.map(({ index, object }) => [index, object])).toEqual(texts.map((_, at) => [at, 'embedding']));
    const [cat = [], again = [], money = []] = data.data.map(({ embedding }) => embedding);
    expect(cosine(cat, again)).toBeGreaterThan(cosine(cat, money) + 0.2);
    expect(data.usage.prompt_tokens).toBeGreaterThan(10);
    expect(data.usage.total_tokens).toBe(data.usage.prompt_tokens);
    expect(response.headers.get('x-rtr-tier')).toBe('gpu');
  });

  it('are the same as base64, which the SDK asks for by itself, and as numbers', async () => {
    const [coded, plain] = await Promise.all([
      openai().embeddings.create({ model: 'embedder', input: texts }),
      openai().embeddings.create({ model: 'embedder', input: texts, encoding_format: 'float' }),
    ]);
    expect(coded.data).toEqual(plain.data);
    const raw = await post('/embeddings', { model: 'embedder', input: 'x', encoding_format: 'base64' });
    expect(await raw.json()).toMatchObject({ data: [{ embedding: expect.stringMatching(/^[\w+/]+=*$/) as string }] });
  });

  it('have as many dimensions as the request asks for', async () => {
    const { data } = await openai().embeddings.create({ model: 'embedder', input: 'x', dimensions: 17 });
    expect(data[0]?.embedding).toHaveLength(17);
  });

  const lists = [
    [1, 2],
    [3, 4, 5],
  ];

  it.each([
    ['a text', 'one', 1],
    ['its tokens', [1, 2, 3], 1],
    ['lists of tokens', lists, 2],
  ])('are given for %s', async (_, input, count) => {
    const { data, usage } = await openai().embeddings.create({ model: 'embedder', input });
    expect(data).toHaveLength(count);
    if (count === 2) expect(usage.prompt_tokens).toBe(5);
  });

  it('are recorded and billed by their input', async () => {
    const answer = await post('/embeddings', { model: 'search', input: texts }, { 'x-request-id': 'embed-billed' });
    const { usage } = (await answer.json()) as OpenAI.CreateEmbeddingResponse;
    const tokens = usage.prompt_tokens;
    const served = { operation: 'embed', asked: 'search', model: 'embedder', outcome: 'done' };
    const billed = { promptTokens: tokens, completionTokens: 0, cost: tokens * 2_000 };
    expect(await recordOf(cluster, 'embed-billed')).toMatchObject({ ...served, ...billed });
  });

  it('count against limits of tokens before they are served', async () => {
    const { raw } = await cluster.addKey({ limits: { tokensPerMinute: 100 } });
    const long = openai(raw).embeddings.create({ model: 'embedder', input: 'word '.repeat(400) });
    await expect(long).rejects.toMatchObject({ status: 400, code: 'request_exceeds_limit' });
    await openai(raw).embeddings.create({ model: 'embedder', input: 'short' });
  });
});

describe('ranked documents', () => {
  const documents = ['Paris is in France.', 'Cats sleep a lot.', 'The capital of France is Paris.'];
  const query = 'What is the capital of France?';

  it.each(['/v1/rerank', '/rerank', '/v2/rerank'])('come best first at %s', async (path) => {
    const answer = await post(path, { model: 'ranker', query, documents });
    expect(answer.status).toBe(200);
    const { results, usage, ...rest } = (await answer.json()) as {
      results: { index: number; relevance_score: number }[];
      usage: { prompt_tokens: number; total_tokens: number };
    };
    expect(rest).toMatchObject({ id: expect.stringMatching(/^rerank-/) as string, model: 'ranker' });
    expect(results.map(({ index }) => index)).toEqual([2, 0, 1]);
    expect(Object.keys(results[0] ?? {})).toEqual(['index', 'relevance_score']);
    expect(usage.prompt_tokens).toBeGreaterThan(0);
    expect(usage.total_tokens).toBe(usage.prompt_tokens);
  });

  it('are as many as requested, with their texts on request', async () => {
    const asked = { model: 'ranker', query, documents, return_documents: true };
    const one = (await (await post('/rerank', { ...asked, top_n: 1 })).json()) as { results: object[] };
    expect(one.results).toMatchObject([{ index: 2, document: { text: documents[2] } }]);
    const all = (await (await post('/rerank', { ...asked, top_n: 10 })).json()) as { results: object[] };
    expect(all.results).toHaveLength(3);
  });
});

describe('continued texts, by the official SDK', () => {
  it('are answered whole', async () => {
    const answer = await openai().completions.create({ model: 'writer', prompt: 'Once upon a time' });
    expect(answer).toMatchObject({ object: 'text_completion', model: 'writer' });
    expect(answer.id).toMatch(/^cmpl-/);
    expect(answer.choices).toMatchObject([{ index: 0, finish_reason: 'stop', logprobs: null }]);
    expect(answer.choices[0]?.text).toContain('“Once upon a time”');
    expect(answer.usage?.completion_tokens).toBeGreaterThan(0);
  });

  it('are streamed, and the last chunk has the finish reason and the usage', async () => {
    const stream = await openai().completions.create({
      model: 'writer',
      prompt: 'def add(a, b):\n',
      suffix: '\nprint(add(1, 2))',
      stream: true,
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.length).toBeGreaterThan(3);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    const text = chunks.map(({ choices }) => choices[0]?.text ?? '').join('');
    expect(text).toContain('between “def add(a, b):” and “print(add(1, 2))”');
    const usage = { completion_tokens: expect.any(Number) };
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage });
    expect(chunks.slice(0, -1).every(({ choices }) => choices[0]?.finish_reason === null)).toBe(true);
  });

  it('end with an error event when the engine breaks off', async () => {
    const prompt = 'Go on.\n[demo fault=drop after=4 tokens=20 rate=200]';
    const stream = await openai().completions.create({ model: 'writer', prompt, stream: true });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.choices[0]?.finish_reason).toBeNull();
    };
    await expect(read()).rejects.toMatchObject({ code: 'upstream_failed' });
  });
});

describe('judged texts, by the official SDK', () => {
  it('are classified, by any model that moderates if none is named', async () => {
    const { id, model, results } = await openai().moderations.create({ input: ['How are you?', 'I will kill you.'] });
    expect([id.startsWith('modr-'), model]).toEqual([true, 'judge']);
    expect(results).toMatchObject([
      { flagged: false, categories: { violence: false } },
      { flagged: true, categories: { violence: true }, category_scores: { violence: 0.99 } },
    ]);
  });

  it('may have parts', async () => {
    const input = [
      { type: 'text' as const, text: 'murder' },
      { type: 'image_url' as const, image_url: { url: 'https://example.com/a.png' } },
    ];
    expect((await openai().moderations.create({ model: 'judge', input })).results).toMatchObject([{ flagged: true }]);
  });
});

describe('each model', () => {
  const requests = {
    '/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
    '/responses': { input: 'Hi' },
    '/completions': { prompt: 'Hi' },
    '/embeddings': { input: 'Hi' },
    '/rerank': { query: 'Hi', documents: ['Hi'] },
    '/moderations': { input: 'Hi' },
  };
  const served = {
    embedder: ['/embeddings'],
    ranker: ['/rerank'],
    judge: ['/moderations'],
    writer: ['/chat/completions', '/responses', '/completions'],
  };

  it.each(Object.entries(served))('%s is asked only for operations that it has', async (model, paths) => {
    for (const [path, body] of Object.entries(requests)) {
      const answer = await post(path, { model, ...body });
      const error = { param: 'model', type: 'invalid_request_error' };
      expect([answer.status, await answer.json()]).toMatchObject(paths.includes(path) ? [200, {}] : [400, { error }]);
    }
  });

  it('is chosen by auto for its operations', async () => {
    const asked = await Promise.all(
      Object.entries(requests).map(async ([path, body]) => {
        const { model } = (await (await post(path, { model: 'auto', ...body })).json()) as { model: string };
        return [path, model];
      }),
    );
    expect(Object.fromEntries(asked)).toEqual({
      '/chat/completions': 'writer',
      '/responses': 'writer',
      '/completions': 'writer',
      '/embeddings': 'embedder',
      '/rerank': 'ranker',
      '/moderations': 'judge',
    });
  });

  it('is listed with its operations, and to clients of messages only if it generates', async () => {
    const { data } = await openai().models.list();
    const listed = data.map((model) => [model.id, (model as unknown as { operations: string[] }).operations]);
    expect(Object.fromEntries(listed)).toEqual({
      auto: expect.arrayContaining(['generate', 'complete', 'embed', 'rank', 'moderate']) as string[],
      embedder: ['embed'],
      ranker: ['rank'],
      judge: ['moderate'],
      writer: ['generate', 'complete'],
      search: ['embed'],
    });
    const messages = await (await get(cluster, '/anthropic/v1/models')).json();
    expect((messages as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(['auto', 'writer']);
  });
});

describe('bad input', () => {
  const [missing, wrong] = ['missing_required_parameter', 'invalid_type'];

  it.each<[string, object, param: string, code: string | undefined]>([
    ['/embeddings', {}, 'model', missing],
    ['/embeddings', { model: 'embedder' }, 'input', missing],
    ['/embeddings', { model: 'embedder', input: '' }, 'input', wrong],
    ['/embeddings', { model: 'embedder', input: [] }, 'input', wrong],
    ['/embeddings', { model: 'embedder', input: ['a', ''] }, 'input[1]', wrong],
    ['/embeddings', { model: 'embedder', input: ['a', 5] }, 'input[1]', wrong],
    ['/embeddings', { model: 'embedder', input: [[1], []] }, 'input[1]', wrong],
    ['/embeddings', { model: 'embedder', input: [1, -2] }, 'input[1]', wrong],
    ['/embeddings', { model: 'embedder', input: 'a', dimensions: 0 }, 'dimensions', wrong],
    ['/embeddings', { model: 'embedder', input: 'a', encoding_format: 'hex' }, 'encoding_format', wrong],
    ['/rerank', { model: 'ranker', documents: ['a'] }, 'query', missing],
    ['/rerank', { model: 'ranker', query: 'a', documents: [] }, 'documents', wrong],
    ['/rerank', { model: 'ranker', query: 'a', documents: null }, 'documents', wrong],
    ['/rerank', { model: 'ranker', query: 'a', documents: [7] }, 'documents[0]', wrong],
    ['/rerank', { model: 'ranker', query: 'a', documents: ['a'], top_n: 0 }, 'top_n', wrong],
    ['/moderations', {}, 'input', missing],
    ['/moderations', { input: [] }, 'input', wrong],
    ['/moderations', { input: [{ type: 'text' }] }, 'input[0].text', missing],
    ['/completions', { model: 'writer' }, 'prompt', missing],
    ['/completions', { model: 'writer', prompt: [] }, 'prompt', wrong],
    ['/completions', { model: 'writer', prompt: 'a', suffix: 1 }, 'suffix', wrong],
    ['/completions', { model: 'writer', prompt: 'a', stop: 1 }, 'stop', wrong],
  ])('at %s, %j is refused with the field', async (path, body, param, code) => {
    const answer = await post(path, body);
    const error = { message: expect.any(String), type: 'invalid_request_error', param, code };
    expect([answer.status, await answer.json()]).toEqual([400, { error }]);
  });

  it.each(['/embeddings', '/rerank', '/completions', '/moderations'])(
    'a GET of %s names the allowed method',
    async (path) => {
      const answer = await get(cluster, `/openai${path}`);
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    },
  );

  it('that only the engine detects is distinguished from its failures', async () => {
    const failing = await post('/embeddings', { model: 'embedder', input: 'x', demo: { fault: '500' } });
    expect([failing.status, await failing.json()]).toMatchObject([502, { error: { code: 'upstream_failed' } }]);
    const refused = await post('/completions', { model: 'writer', prompt: ['a', 'b'] });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { type: 'invalid_request_error' } }]);
  });
});
