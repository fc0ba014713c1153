import { expect, it } from 'vitest';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { RouterError } from '#shared/core/errors.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { serveRequest } from '#shared/serving/serve-request.ts';
import { livePool } from '../../helpers/broker/live-pool.ts';
import { callerOf, modelSink, plainOptions, servingParts } from '../../helpers/serving/serving-parts.ts';

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
async function modelsFor(tools: object[], operation: 'generate' | 'count_tokens', changes: object = {}) {
  const models: string[] = [];
  const dispatch = (request: JobRequest): never => {
    models.push(...request.findPlacements(new Set()).map(({ model }) => model));
    throw new RouterError('internal', 'This is far enough.');
  };
  const client = responsesFormat.read(Buffer.from(JSON.stringify({ model: 'auto', input: 'hi', tools })), operation);
  const request = { format: responsesFormat, operation, client };
  const parts = servingParts(dispatch, pools, changes);
  const served = serveRequest(parts, request, plainOptions, modelSink(), callerOf());
  await expect(served).rejects.toThrow('far enough');
  return models;
}

const own = { type: 'function', name: 'own', parameters: {}, strict: false };
const mcp = { type: 'mcp', server_label: 'wiki', require_approval: 'never' };

const search = { type: 'web_search' };

it.each([
  ['generate', [own, mcp, search]],
  ['generate', [own, search]],
  ['count_tokens', [own, mcp, search]],
  ['count_tokens', [own, search]],
] as const)(
  'a request to %s with a search that it can do without goes to a model that calls tools: %j',
  async (to, tools) => {
    expect(await modelsFor([...tools], to)).toEqual(['able']);
  },
);

it('a request with tools of an MCP server waits while no worker has them', async () => {
  let looks = 0;
  const away = {
    isKnownModel: () => true,
    findLostPools: () => [{ tools: [{ name: 'lost' }] }],
    pools: () => ((looks += 1) < 3 ? pools.slice(0, 2) : pools),
  };
  expect(await modelsFor([mcp], 'count_tokens', { workers: away })).toEqual(['able']);
});
