import { expect, it } from 'vitest';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { prepareRequest, type PrepareComponents } from '#shared/serving/prepare-request.ts';
import type { AnswerStore } from '#shared/serving/stored/resolve-stored.ts';
import { callerOf } from '../../helpers/serving/serving-parts.ts';

const nothing = (): undefined => undefined;

it.each([
  { reservations: [] },
  { reservations: [10_000] },
  { reservations: [50_000] },
  { reservations: [5_000, 10_000, 10_000] },
])(
  'a stored conversation is counted once, also if it grows and its read is repeated: $reservations',
  async ({ reservations }) => {
    const counted: number[] = [];
    const input = [{ id: 'msg_1', type: 'message', role: 'user', content: 'x'.repeat(10_000) }];
    const responses = {
      readHistory: async (_owner, id, reserve) => {
        for (const bytes of reservations) await reserve(bytes);
        expect(counted).toEqual(reservations.length < 3 ? reservations : [5_000, 5_000]);
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
    const prepared = await prepareRequest(parts, request, callerOf(), {
      grow: (bytes) => void counted.push(bytes),
      shrink: (bytes) => void counted.push(-bytes),
    });
    const { length } = prepared?.client.withDefaults({}) ?? Buffer.alloc(0);
    expect(length).toBeGreaterThan(10_000);
    const sum = counted.reduce((bytes, each) => bytes + each, 0);
    expect(sum > 10_000 && sum <= length).toBe(true);
  },
);
