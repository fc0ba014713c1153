import { expect, it } from 'vitest';
import { AnswerBudget } from '#services/batch-runner/answer-memory.ts';
import { RequestBudget } from '#services/batch-runner/request-memory.ts';
import { makeResponse, type MakeResponseParts } from '#services/batch-runner/responses/make-response.ts';
import { RunLaterError } from '#shared/background/background-worker.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import { noPurpose } from '#shared/core/purpose.ts';
import type { HostedRequest } from '#shared/formats/hosted/hosted-request.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { encodeToolEvent } from '#shared/formats/tools/tool-result.ts';
import { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';
import type { ServingComponents } from '#shared/serving/serve-model.ts';
import { jobDone } from '../../../helpers/broker/job-done.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';
import { hostedCall, servedTool } from '../../../helpers/serving/hosted-call.ts';
import { identityOf, servingParts } from '../../../helpers/serving/serving-parts.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

/** Makes a response whose request has these hosted tools, and whose answer lacks its last event. */
async function makeUnfinished(hosted?: HostedRequest) {
  const calls = { model: 0, tool: 0 };
  const dispatch: ServingComponents['dispatcher']['dispatch'] = ({ operation }, _body, sink) => {
    const isTool = operation === 'execute_tool';
    calls[isTool ? 'tool' : 'model'] += 1;
    sink.end(
      Buffer.from(isTool ? encodeToolEvent({ result: { tool: servedTool.name, is_error: false, content: [] } }) : ''),
    );
    const times = { queuedAt: 0, claimedAt: 0, firstByteAt: 0, endedAt: 0 };
    const report = {
      state: 'completed',
      attempts: 1,
      moves: [],
      continuations: [],
      timeline: [],
      ...times,
      end: jobDone,
    };
    return { finished: Promise.resolve(report as unknown as JobReport) } as unknown as Job;
  };
  const pools = [
    livePool(
      {
        tier: 'gpu',
        pool: 'g',
        formats: ['responses'],
        models: [{ id: 'm', capabilities: ['stream'] }],
      },
      [{ id: 'g1' }],
    ),
    livePool({ tier: 'tools', pool: 't', tools: [servedTool] }, [{ id: 't1' }]),
  ];
  const id = 'resp_1';
  const record = {
    id,
    owner: 'user:ada',
    key: 'k',
    requestId: 'r',
    format: 'responses',
    requestBytes: 9,
    state: 'queued',
  };
  const ends: string[] = [];
  const parts = {
    responses: {
      find: () => Promise.resolve({ ...record, expiresAt: Date.now() + 60_000 }),
      readTexts: () =>
        Promise.resolve({
          queued: { id, status: 'queued', output: [] },
          request: {
            body: JSON.stringify({ model: 'm', input: 'Hi.', stream: true, store: false }),
            isRecorded: false,
            sentFor: noPurpose,
          },
        }),
      beginRun: () => Promise.resolve({ runId: 'run', next: 3 }),
      append: () => Promise.resolve('kept'),
      noteFailure: () => Promise.resolve(1),
      end: (_record: unknown, _run: string, { state }: { state: string }) => {
        ends.push(state);
        return Promise.resolve('ended');
      },
    },
    changes: { watch: () => () => undefined },
    formats: [
      {
        ...responsesFormat,
        read: (...from: Parameters<typeof responsesFormat.read>) => ({
          ...responsesFormat.read(...from),
          hosted,
        }),
      },
    ],
    identities: { find: () => Promise.resolve(identityOf()) },
    heavyWork: { createTask: () => ({ begin: () => Promise.resolve(undefined), end: () => undefined }) },
    ownerPlaces: { take: () => undefined, release: () => undefined },
    ledger: { createEntry: () => undefined },
    serving: {
      ...servingParts(dispatch, pools),
      answers: { storesAnswers: false },
      requestBudget: new RequestBudget(Infinity),
      answerBudget: new AnswerBudget(Infinity),
    },
    eventBudget: new StoreQueueBudget(Infinity),
    maxTries: 3,
    stopping: new AbortController().signal,
    countResponse: () => undefined,
    log: silentLog,
  };
  const outcome = await makeResponse(parts as unknown as MakeResponseParts, { response: id }).catch(
    (error: unknown) => error,
  );
  return { isRunLater: outcome instanceof RunLaterError, outcome, ends, calls };
}

it('a response whose answer cannot be read is made again only if it has called no tool with effects', async () => {
  expect(await makeUnfinished()).toMatchObject({
    isRunLater: true,
    ends: [],
    calls: { model: 1, tool: 0 },
  });
  expect(await makeUnfinished(hostedCall('mcp'))).toMatchObject({
    isRunLater: false,
    ends: ['failed'],
    calls: { model: 2, tool: 1 },
  });
});
