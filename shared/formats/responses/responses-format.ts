import type { JsonText } from '#shared/core/json-text.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import type { ClientFormat, ClientRequest, ClientRoute, RequestParameters } from '../client-format.ts';
import { readJsonRequest } from '../json-request.ts';
import type { RequestFeatures } from '../request-feature.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/openai-format.ts';
import type { BackgroundRequest } from '../background-answers.ts';
import { createBackgroundRequest, backgroundResponses } from './background-responses.ts';
import { compactRoute } from './compact-route.ts';
import { digestResponsesConversation, readResponsesSigns } from './signs.ts';
import { responsesFeatures } from './features.ts';
import { responsesFileParts } from './file-parts.ts';
import { createResponsesHostedRequest } from './hosted/responses-hosted-answer.ts';
import { responsesMessageParts } from './message-parts.ts';
import { computeResponsesNeeds } from './needs.ts';
import { parseResponsesRequest } from './parse-responses-request.ts';
import type { ResponsesRequest } from './request.ts';
import { readOpeningFields, responseIdPrefix } from './response-object.ts';
import type { StoreRequest } from '../stored-answers.ts';
import { createStoreRequest } from './store-request.ts';
import { storedResponses } from './stored-responses.ts';
import { ResponsesStream } from './responses-stream.ts';
import { readRelayedResponse } from './read-relayed-response.ts';

/** OpenAI's Responses format, which Codex and newer SDKs use. */
export const responsesFormat: ClientFormat = {
  name: 'responses',
  api: openaiApi,
  routes: [
    { path: '/responses', operation: 'generate' },
    compactRoute,
    { path: '/responses/input_tokens', operation: 'count_tokens' },
  ],
  passedHeaders: ['openai-beta'],
  answerIdPrefix: responseIdPrefix,
  choosesAnswerIds: true,
  sealsAnswers: true,
  read: readRequest,
  stored: storedResponses,
  background: backgroundResponses,
  countAnswer: (inputTokens) => ({ object: 'response.input_tokens', input_tokens: inputTokens }),
  estimateInput: (request: JsonObject) => computeResponsesNeeds(request as ResponsesRequest).inputTokens,
  features: responsesFeatures as RequestFeatures,
  readRelayed: readRelayedResponse,
  messageParts: responsesMessageParts,
  errorAnswer: createOpenaiErrorAnswer,
  limitHeaders: createOpenaiLimitHeaders,
  openStream: (opening) => new ResponsesStream(opening),
};

function readRequest(body: Buffer, operation: ClientRoute['operation']): ClientRequest {
  let repeated: JsonObject | undefined;
  let store: StoreRequest | undefined;
  let background: BackgroundRequest | undefined;
  const read = (parsed: unknown, skim: JsonText['skim']): RequestParameters => {
    const checked = parseResponsesRequest(parsed, skim);
    const parameters = toParameters(checked, operation);
    if (parameters.stream) repeated = readOpeningFields(checked);
    store = createStoreRequest(checked);
    if (operation === 'generate') background = createBackgroundRequest(checked);
    return parameters;
  };
  const request = readJsonRequest(body, read, responsesFileParts, (parsed) =>
    createResponsesHostedRequest(parsed as ResponsesRequest),
  );
  return { ...request, repeated, store, background };
}

function toParameters(request: ResponsesRequest, operation: ClientRoute['operation']): RequestParameters {
  return {
    model: request.model,
    stream: operation === 'generate' && request.stream === true,
    needs: computeResponsesNeeds(request),
    maxOutput: request.max_output_tokens ?? undefined,
    serviceTier: chooseServiceTier(request),
    conversation: digestResponsesConversation(request),
    signs: operation === 'generate' ? readResponsesSigns(request) : undefined,
  };
}

/**
 * Returns the priority that the request asks for. The priority is low if the client allows hours for the response, that is, if the
 * completion window is `2h` or `8h` and not the default `soonest`.
 */
function chooseServiceTier({ service_tier: tier, background_options: options }: ResponsesRequest) {
  const window = options?.completion_window ?? 'soonest';
  if (window !== 'soonest') return 'flex';
  return tier === 'flex' || tier === 'priority' ? tier : undefined;
}
