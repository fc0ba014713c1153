import { expect, it } from 'vitest';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { prepareRequest, type PrepareComponents } from '#shared/serving/prepare-request.ts';
import type { AnswerStore } from '#shared/serving/stored/resolve-stored.ts';
import { callerOf } from '../../helpers/serving/serving-parts.ts';

const nothing = (): undefined => undefined;

it.each([0, 10_000])(
  'a stored conversation is counted once, %i bytes of it before it is read',
  async (reservedFirst) => {
    const counted: number[] = [];
    const input = [{ id: 'msg_1', type: 'message', role: 'user', content: 'x'.repeat(10_000) }];
    const responses = {
      readHistory: async (_owner, id, reserve) => {
        if (reservedFirst > 0) await reserve(reservedFirst);
        expect(counted).toHaveLength(reservedFirst > 0 ? 1 : 0);
        return { found: [{ id, response: { id, output: [] }, input }] };
      },
    } as Partial<AnswerStore['responses']> as AnswerStore['responses'];
    const parts: PrepareComponents = {
      answers: { responses, storesAnswers: true, assertIntact: nothing },
      inputFiles: {} as PrepareComponents['inputFiles'],
    };
    const body = Buffer.from(JSON.stringify({ model: 'm', input: 'And then?', previous_response_id: 'resp_1' }));
    const request = {
      format: responsesFormat,
      operation: 'generate',
      client: responsesFormat.read(body, 'generate'),
    } as const;
    const prepared = await prepareRequest(parts, request, callerOf(), { grow: (bytes) => void counted.push(bytes) });
    const { length } = prepared?.client.withDefaults({}) ?? Buffer.alloc(0);
    expect(length).toBeGreaterThan(10_000);
    const sum = counted.reduce((bytes, each) => bytes + each, 0);
    expect(sum > 10_000 && sum <= length).toBe(true);
  },
);
