import { RouterError } from '#shared/core/errors.ts';
import type { HostedRequest } from '../../hosted/hosted-request.ts';
import type { ResponsesRequest, ResponsesTool } from '../request.ts';
import { findHostedTools } from './find-hosted-tools.ts';
import { hostedFunctions, toolsWithFunctions } from './hosted-functions.ts';
import { withTools } from './offered-tools.ts';
import { ResponsesHostedAnswer } from './responses-hosted-answer.ts';

export function responsesHostedRequest(request: ResponsesRequest): HostedRequest | undefined {
  const tools = findHostedTools(request);
  if (tools.length === 0) return undefined;
  return {
    tools,
    refusal: ({ param, title }, reason) =>
      new RouterError(
        'unsupported_parameter',
        `Unsupported value for '${param}': tools of type '${title}' cannot be run here: ${reason}.`,
        { param },
      ),
    withFunctions: (body, runnable) => {
      const request = body as ResponsesRequest;
      const functions = hostedFunctions(request, runnable);
      const { input } = request;
      const change = (tools: readonly ResponsesTool[]): ResponsesTool[] => toolsWithFunctions(tools, functions);
      const counted = {
        tools: change(request.tools ?? []),
        ...(Array.isArray(input) && { input: withTools(input, change) }),
      };
      return Buffer.from(JSON.stringify({ ...request, ...counted }));
    },
    // `parseResponsesRequest` has checked the body before.
    createAnswer: (body, runnable) => new ResponsesHostedAnswer(body as ResponsesRequest, runnable),
  };
}
