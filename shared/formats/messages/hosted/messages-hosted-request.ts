import { RouterError } from '#shared/core/errors.ts';
import type { HostedRequest } from '../../hosted/hosted-request.ts';
import type { MessagesRequest } from '../request.ts';
import { toFunction } from './hosted-function.ts';
import { findHostedTools } from './find-hosted-tools.ts';
import { MessagesHostedAnswer } from './messages-hosted-answer.ts';

export function createMessagesHostedRequest(request: MessagesRequest): HostedRequest | undefined {
  const tools = findHostedTools(request);
  if (tools.length === 0) return undefined;
  return {
    tools,
    createRefusal: ({ param, title }, reason) =>
      new RouterError('unsupported_parameter', `${param}: '${title}' cannot be run here: ${reason}`, { param }),
    withFunctions: (body) => {
      const { tools: requestTools } = body as MessagesRequest;
      return Buffer.from(JSON.stringify({ ...body, tools: (requestTools ?? []).map(toFunction) }));
    },
    // The body has passed `parseMessagesRequest`.
    createAnswer: (body, runnable) => new MessagesHostedAnswer(body as MessagesRequest, runnable),
  };
}
