import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { HostedOutcome } from '#shared/formats/hosted/hosted-outcome.ts';
import type { HostedAnswer, HostedCall } from '#shared/formats/hosted/hosted-request.ts';

export const found: HostedOutcome = {
  kind: 'found',
  results: [{ title: 'T', url: 'https://found.example/', text: 'x', age: undefined }],
};

/** Begins the answer to a request whose hosted tools are all served by the tool `find`. */
export function openHosted({ read }: ClientFormat, request: object): HostedAnswer {
  const text = Buffer.from(JSON.stringify(request));
  const { hosted } = read(text, 'generate');
  if (!hosted) throw new Error('the request has no hosted tools');
  const servedTool = { name: 'find', nameAtServer: 'find', description: '', inputSchema: {} };
  return hosted.createAnswer(
    bodyOf(text),
    hosted.tools.map((tool) => ({ hosted: tool, servedTools: [servedTool] })),
  );
}

export function bodyOf(buffer: Buffer): JsonObject {
  const parsed: unknown = JSON.parse(buffer.toString());
  return isJsonObject(parsed) ? parsed : {};
}

/** Takes a turn of the model with one call, and answers the call with the search results. */
export function answerOne(answer: HostedAnswer, turn: Buffer): void {
  answer.relay(turn);
  answer.answerCall(firstOf(answer.endTurn()), found);
}

export function firstOf(calls: readonly HostedCall[]): HostedCall {
  const [first] = calls;
  if (!first) throw new Error('there is no call');
  return first;
}
