import type { JsonText } from '#shared/core/json-text.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import type { ClientFormat, ClientRequest, ClientRoute, RequestParameters } from '../client-format.ts';
import { readJsonRequest } from '../json-request.ts';
import type { RequestFeatures } from '../request-feature.ts';
import { openaiErrorAnswer } from '../openai/error.ts';
import { openaiLimitHeaders } from '../openai/limit-headers.ts';
import type { BackgroundRequest } from '../background-answers.ts';
import { backgroundRequest, backgroundResponses } from './background-responses.ts';
import { compactRoute } from './compact-route.ts';
import { responsesConversation } from './conversation.ts';
import { responsesFeatures } from './features.ts';
import { responsesFileParts } from './file-parts.ts';
import { responsesHostedRequest } from './hosted/responses-hosted-request.ts';
import { responsesMessageParts } from './message-parts.ts';
import { responsesNeeds } from './needs.ts';
import { parseResponsesRequest } from './parse-responses-request.ts';
import type { ResponsesRequest } from './request.ts';
import { repeatedFieldsOfOpening, responseIdPrefix } from './response-object.ts';
import type { StoreRequest } from '../stored-answers.ts';
import { storeRequest } from './store-request.ts';
import { storedResponses } from './stored-responses.ts';
import { ResponsesStream } from './responses-stream.ts';
import { responsesSigns } from './signs.ts';
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
  opensAnswers: true,
  sealsAnswers: true,
  read: readRequest,
  stored: storedResponses,
  background: backgroundResponses,
  countAnswer: (inputTokens) => ({ object: 'response.input_tokens', input_tokens: inputTokens }),
  estimateInput: (request: JsonObject) => responsesNeeds(request as ResponsesRequest).inputTokens,
  features: responsesFeatures as RequestFeatures,
  readRelayed: readRelayedResponse,
  messageParts: responsesMessageParts,
  errorAnswer: openaiErrorAnswer,
  limitHeaders: openaiLimitHeaders,
  openStream: (opening) => new ResponsesStream(opening),
};

function readRequest(body: Buffer, operation: ClientRoute['operation']): ClientRequest {
  let repeated: JsonObject | undefined;
  let store: StoreRequest | undefined;
  let background: BackgroundRequest | undefined;
  const read = (parsed: unknown, skim: JsonText['skim']): RequestParameters => {
    const checked = parseResponsesRequest(parsed, skim);
    const parameters = parametersOf(checked, operation);
    if (parameters.stream) repeated = repeatedFieldsOfOpening(checked);
    store = storeRequest(checked);
    if (operation === 'generate') background = backgroundRequest(checked);
    return parameters;
  };
  const request = readJsonRequest(body, read, responsesFileParts, (parsed) =>
    responsesHostedRequest(parsed as ResponsesRequest),
  );
  return { ...request, repeated, store, ...(background && { background }) };
}

function parametersOf(request: ResponsesRequest, operation: ClientRoute['operation']): RequestParameters {
  return {
    model: request.model,
    stream: operation === 'generate' && request.stream === true,
    needs: responsesNeeds(request),
    maxOutput: request.max_output_tokens ?? undefined,
    serviceTier: serviceTierOf(request),
    conversation: responsesConversation(request),
    signs: operation === 'generate' ? responsesSigns(request) : undefined,
  };
}

/**
 * Returns the priority that the request asks for. If the client allows hours for the response (a completion window of `2h` or `8h`, not the
 * default `soonest`), the priority is low.
 */
function serviceTierOf({ service_tier: tier, background_options: options }: ResponsesRequest) {
  const window = options?.completion_window ?? 'soonest';
  if (window !== 'soonest') return 'flex';
  return tier === 'flex' || tier === 'priority' ? tier : undefined;
}
