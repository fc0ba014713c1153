import { describe, expect, it } from 'vitest';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { RouterError } from '#shared/core/errors.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { registrySchema } from '#shared/registry/registry.ts';
import { Hedges } from '#shared/serving/hedging/hedges.ts';
import { serveRequest } from '#shared/serving/serve-request.ts';
import { livePool } from '../../helpers/broker/live-pool.ts';

const formats = ['responses'];
const able = { id: 'able', capabilities: ['stream' as const, 'tools' as const], contextWindow: 100_000 };
const larger = { id: 'larger', capabilities: ['stream' as const], contextWindow: 1_000_000 };
const read = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' }, server: 'wiki' };
const pools = [
  livePool({ tier: 'gpu', pool: 'a', formats, models: [able] }, [{ id: 'w1' }]),
  livePool({ tier: 'cloud', pool: 'l', formats, models: [larger] }, [{ id: 'w2' }]),
  livePool({ tier: 'tools', pool: 't', tools: [read] }, [{ id: 'w3' }]),
];

/** The models that a request for `auto` with these tools may go to, best first. */
async function modelsFor(tools: object[], operation: 'generate' | 'count_tokens'): Promise<string[]> {
  const models: string[] = [];
  const dispatch = (request: JobRequest): never => {
    models.push(...request.place(new Set()).map(({ model }) => model));
    throw new RouterError('internal', 'This is far enough.');
  };
  const parts = {
    dispatcher: { dispatch, cancel: () => undefined, fail: () => undefined },
    workers: { pools: () => pools, lostPools: () => [], isKnownModel: () => false } as unknown as LiveWorkers,
    registry: () => registrySchema.parse({}),
    limits: { reserve: () => Promise.reject(new Error('no limits here')) },
    priceOf: () => undefined,
    hedges: new Hedges(),
    noWorkerMs: 15_000,
    ownerKeys: { ofGrant: () => undefined },
    record: () => undefined,
  };
  const nothing = (): undefined => undefined;
  const sink = { relayedTokens: 0, begin: nothing, data: nothing, keepAlive: nothing, end: nothing, fail: nothing };
  const identity = { id: 'k', name: 'k', kind: 'router', class: 'normal', limits: [] } as unknown as KeyIdentity;
  const caller = { requestId: 'r', identity, trace: undefined, onStanding: nothing, isGone: () => false };
  const readBody = (body: Buffer) => responsesFormat.read(body, operation);
  const asked = {
    ...readBody(Buffer.from(JSON.stringify({ model: 'auto', input: 'hi', tools }))),
    read: readBody,
    openStream: responsesFormat.openStream,
    format: responsesFormat.name,
    operation,
    sealsAnswers: true,
    headers: undefined,
    session: undefined,
    sentFor: { purpose: undefined, agentType: undefined },
    maxWaitMs: undefined,
  };
  await expect(serveRequest(parts, asked, sink, caller)).rejects.toThrow('far enough');
  return models;
}

describe('a request with hosted tools that the router runs, and a search that it can do without', () => {
  const own = { type: 'function', name: 'own', parameters: {}, strict: false };
  const mcp = { type: 'mcp', server_label: 'wiki', require_approval: 'never' };

  it.each(['generate', 'count_tokens'] as const)('goes to a model that can call tools, to %s', async (operation) => {
    expect(await modelsFor([own, mcp, { type: 'web_search' }], operation)).toEqual(['able']);
    expect(await modelsFor([own, { type: 'web_search' }], operation)).toEqual(['able']);
  });
});
