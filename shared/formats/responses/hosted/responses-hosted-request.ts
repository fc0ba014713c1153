import { RouterError } from '#shared/core/errors.ts';
import type { HostedRequest } from '../../hosted/hosted-request.ts';
import type { ResponsesRequest, ResponsesTool } from '../request.ts';
import { findHostedTools } from './find-hosted-tools.ts';
import { createHostedFunctions, replaceHostedTools } from './hosted-functions.ts';
import { changeAddedTools } from './request-tools.ts';
import { ResponsesHostedAnswer } from './responses-hosted-answer.ts';

export function createResponsesHostedRequest(request: ResponsesRequest): HostedRequest | undefined {
  const tools = findHostedTools(request);
  if (tools.length === 0) return undefined;
  return {
    tools,
    createRefusal: ({ param, title }, reason) =>
      new RouterError(
        'unsupported_parameter',
        `Unsupported value for '${param}': tools of type '${title}' cannot be run here: ${reason}.`,
        { param },
      ),
    withFunctions: (body, runnable) => {
      const wholeRequest = body as ResponsesRequest;
      const functions = createHostedFunctions(wholeRequest, runnable);
      const { input } = wholeRequest;
      const change = (tools: readonly ResponsesTool[]): ResponsesTool[] => replaceHostedTools(tools, functions);
      const countedFields = {
        tools: change(wholeRequest.tools ?? []),
        ...(Array.isArray(input) && { input: changeAddedTools(input, change) }),
      };
      return Buffer.from(JSON.stringify({ ...wholeRequest, ...countedFields }));
    },
    // The body has passed `parseResponsesRequest`.
    createAnswer: (body, runnable) => new ResponsesHostedAnswer(body as ResponsesRequest, runnable),
  };
}
