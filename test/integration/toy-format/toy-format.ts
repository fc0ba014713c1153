import { z } from 'zod';
import { RouterError, errorTable } from '#shared/core/errors.ts';
import type { ClientApi } from '#shared/formats/client-api.ts';
import type { ClientFormat, RequestParameters } from '#shared/formats/client-format.ts';
import { digestConversation } from '#shared/formats/request-signs.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import { readJsonRequest } from '#shared/formats/json-request.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';
import type { StreamedAnswer } from '#shared/formats/sse/streamed-answer.ts';

const toySchema = z.looseObject({
  engine: z.string().min(1),
  say: z.string().min(1),
  live: z.boolean().default(false),
  most: z.number().int().positive().optional(),
});

export type ToyRequest = z.output<typeof toySchema>;

const toyApi: ClientApi = {
  segment: 'toy',
  prefixes: ['/v9'],
  keyHeader: 'x-toy-key',
  greetings: { '/ping': { pong: true } },
  listModels: (cards) => ({ engines: cards.map(({ id }) => id) }),
  showModel: ({ id }) => ({ engine: id }),
};

/** A client format that the project does not have. Its events are numbered, as in newer real formats. */
export const toyFormat: ClientFormat = {
  name: 'toy',
  api: toyApi,
  routes: [{ path: '/talk', operation: 'generate' }],
  passedHeaders: [],
  answerIdPrefix: 'toy-',
  read: (body) => readJsonRequest(body, readParameters),
  estimateInput: (request) => estimateTokens(typeof request['say'] === 'string' ? request['say'] : ''),
  errorAnswer: ({ code, message, param = null }) => ({
    status: errorTable[code].status,
    headers: {},
    body: { wrong: { code, message, param } },
  }),
  limitHeaders: ({ requests, tokens }) => ({
    ...(requests && { 'toy-requests-left': String(requests.remaining) }),
    ...(tokens && { 'toy-tokens-left': String(tokens.remaining) }),
  }),
  openStream: () => new ToyStream(),
};

function readParameters(body: unknown): RequestParameters {
  const { data, error } = toySchema.safeParse(body);
  if (error) {
    const param = error.issues[0]?.path.join('.') ?? '';
    throw new RouterError('invalid_request', `toy: ${param} is wrong`, { param });
  }
  return {
    model: data.engine,
    stream: data.live,
    needs: { tools: false, vision: false, thinking: false, json: false, inputTokens: estimateTokens(data.say) },
    maxOutput: data.most,
    serviceTier: undefined,
    conversation: digestConversation(undefined, [data.say]),
  };
}

/** Continues the numbers of the relayed events. */
class ToyStream implements StreamedAnswer {
  #events = 0;

  get tokens(): number {
    return this.#events;
  }

  relay(piece: Uint8Array): Uint8Array {
    this.#events += Buffer.from(piece).toString().split('\n\n').length - 1;
    return piece;
  }

  keepAlive(): string {
    return this.#next('wait', {});
  }

  errorEvent({ code }: RouterError): string {
    return this.#next('broke', { code });
  }

  #next(name: string, fields: object): string {
    this.#events += 1;
    return writeNamedEvent(name, JSON.stringify({ n: this.#events, ...fields }));
  }
}
