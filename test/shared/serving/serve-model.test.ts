import { expect, it } from 'vitest';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { RouterError } from '#shared/core/errors.ts';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { registrySchema } from '#shared/registry/registry.ts';
import type { Caller } from '#shared/serving/caller.ts';
import { serveModel, type ServingComponents } from '#shared/serving/serve-model.ts';
import type { FinishedRequest } from '#shared/serving/usage-record.ts';
import { noUsage } from '#shared/core/usage.ts';
import { serveTool } from '#shared/serving/serve-tool.ts';
import { livePool } from '../../helpers/broker/live-pool.ts';
import { callerOf, identityOf, modelSink, plainOptions, servingParts } from '../../helpers/serving/serving-parts.ts';

const models = [{ id: 'm', capabilities: ['stream' as const] }];
const pools = [livePool({ tier: 'gpu', pool: 'p', models }, [{ id: 'w' }])];
/** The components that serve a request, up to the dispatcher, and the end of its reservation. */
function parts(onDispatch: (request: JobRequest) => void = () => undefined) {
  const reservations: string[] = [];
  const reserve: LimitKeeper['reserve'] = () => {
    reservations.push('reserved');
    const reservation = {
      commit: () => void reservations.push('committed'),
      release: () => void reservations.push('released'),
    };
    return Promise.resolve({ granted: true, uses: [], reservation });
  };
  const dispatch: ServingComponents['dispatcher']['dispatch'] = (request) => {
    onDispatch(request);
    throw new RouterError('internal', 'The dispatcher is broken.');
  };
  const ownerKeys = { deriveGrantKeys: (owner: string) => `key of ${owner}` };
  const served = servingParts(dispatch, pools, { limits: { reserve }, ownerKeys });
  return { served, reservations };
}

/** A key with a limit. */
function identity(fields: Partial<KeyIdentity> = {}): KeyIdentity {
  return identityOf({ limits: [{ party: 'key:k', limits: { requestsPerMinute: 10 } }], ...fields });
}

function ask(
  served: ServingComponents,
  who: Partial<KeyIdentity> = {},
  fields: object = {},
  { caller = callerOf(identity(who)), ...changes }: Partial<ClientFormat> & { caller?: Caller } = {},
) {
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...fields };
  const client = chatFormat.read(Buffer.from(JSON.stringify(body)), 'generate');
  const request = { format: { ...chatFormat, ...changes }, operation: 'generate', client } as const;
  return serveModel(served, request, plainOptions, modelSink(), caller);
}

it.each([
  ['low', undefined, 'low'],
  ['low', 'priority', 'low'],
  ['normal', undefined, 'normal'],
  ['normal', 'priority', 'normal'],
  ['normal', 'flex', 'low'],
  ['normal', 'auto', 'normal'],
  ['high', undefined, 'high'],
  ['high', 'priority', 'high'],
  ['high', 'flex', 'low'],
] as const)('the class of a key of class %s asking for service_tier %s is %s', async (ceiling, tier, expected) => {
  const classes: string[] = [];
  const { served } = parts((request) => classes.push(request.class));
  await expect(ask(served, { class: ceiling }, { service_tier: tier })).rejects.toThrow('broken');
  expect(classes).toEqual([expected]);
});

it.each([
  [{ sealsAnswers: true }, { ownerId: 'person' }, 'key of person'],
  [{ sealsAnswers: true }, {}, 'key of k'],
  [{ sealsAnswers: false }, { ownerId: 'person' }, undefined],
])("the owner's key is in the grant of a request that is %o, of %o: %s", async (asked, who, expected) => {
  const keys: (string | undefined)[] = [];
  const { served } = parts((request) => keys.push(request.ownerKey));
  await expect(ask(served, who, {}, asked)).rejects.toThrow('broken');
  expect(keys).toEqual([expected]);
});

it.each([
  ['is hedged: streamed, and of a class that the registry names', 'high', { model: 'fast', stream: true }, true],
  ['of another class is not hedged', 'normal', { model: 'fast', stream: true }, false],
  ['that is not streamed is not hedged', 'high', { model: 'fast' }, false],
  ['without the setting is not hedged', 'high', { model: 'plain', stream: true }, false],
] as const)('a request for a name %s', async (_, ceiling, fields, earns) => {
  const { served } = parts();
  const targets = [{ model: 'm' }];
  const registry = registrySchema.parse({ models: { fast: { targets, hedge: ['high'] }, plain: { targets } } });
  for (let request = 0; request < 21; request += 1) {
    const asked = ask({ ...served, registry: () => registry }, { class: ceiling }, fields);
    await expect(asked).rejects.toThrow('broken');
  }
  expect(served.hedges.spend(fields.model)).toBe(earns);
});

const failing = (message: string) => (): never => {
  throw new Error(message);
};
/** The same components with a dispatcher whose job has this end. */
const finishing = (served: ServingComponents, report: object, record: ServingComponents['record']) => {
  const dispatch = () => ({ finished: Promise.resolve(report) }) as Job;
  return { ...served, dispatcher: { ...served.dispatcher, dispatch }, record };
};
const call = { tool: 't', body: Buffer.from('{}'), stream: false };

it('a tool call names its owner to the worker by a mark, the same for all keys of the owner', async () => {
  const marks: string[] = [];
  const { served } = parts(({ ownerMark = '' }) => marks.push(ownerMark));
  for (const who of [{ id: 'k', ownerId: 'ada' }, { id: 'other', ownerId: 'ada' }, { ownerId: 'bob' }])
    await expect(serveTool(served, call, modelSink(), callerOf(identity(who)))).rejects.toThrow('broken');
  expect(new Set(marks).size).toBe(2);
  expect(marks[0]).toBe(marks[1]);
  expect(marks.join()).not.toMatch(/ada|bob/);
});

it.each<[string, string, (served: ServingComponents) => Promise<unknown>]>([
  ['the request cannot be dispatched', 'broken', (served) => ask(served)],
  ['a tool call cannot', 'broken', (served) => serveTool(served, call, modelSink(), callerOf(identity()))],
  [
    'the headers of its limits cannot be set',
    'no headers',
    (served) => ask(served, {}, {}, { caller: callerOf(identity(), { onLimitStatus: failing('no headers') }) }),
  ],
  [
    'the finished request cannot be recorded',
    'no record',
    async (served) => (await ask(finishing(served, { state: 'failed' }, failing('no record'))))?.finished,
  ],
])('the reservation of a request is released if %s', async (_, reason, serve) => {
  const { served, reservations } = parts();
  await expect(serve(served)).rejects.toThrow(reason);
  expect(reservations).toEqual(['reserved', 'released']);
});

it('the reservation of a request is released if the client disconnects meanwhile', async () => {
  const { served, reservations } = parts();
  const caller = callerOf(identity(), { isGone: () => true });
  expect(await ask(served, {}, {}, { caller })).toBeUndefined();
  expect(reservations).toEqual(['reserved', 'released']);
});

it('the reservation of a request is committed, and the request recorded, with at most the possible usage', async () => {
  const end = { usage: { ...noUsage, promptTokens: 9, completionTokens: 9e15 }, finishReason: 'stop' };
  const report = { state: 'done', end, attempt: { placement: { pool: pools[0], model: 'm' } }, answerBytes: 30 };
  const recorded: FinishedRequest[] = [];
  const served = finishing(parts().served, report, (request) => void recorded.push(request));
  const running = await ask(served, {}, { max_tokens: 40 });
  await running?.finished;
  const possible = { ...noUsage, promptTokens: 9, completionTokens: 40 };
  expect(recorded).toMatchObject([{ usage: possible, report: { end: { usage: possible } } }]);
});

it('the reservation of a request is undefined for a key without limits', async () => {
  const { served, reservations } = parts();
  await expect(ask(served, { limits: [] })).rejects.toMatchObject({ code: 'internal' });
  expect(reservations).toEqual([]);
});
