import { readRepeatedFields } from '#shared/formats/responses/response-object.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { requestsCompaction } from '../responses/compaction.ts';
import { toRecalledRequest } from '../responses/recalled-request.ts';
import type { Translation } from '../translation.ts';
import { responsesUpstream } from '../upstreams/responses/responses-upstream.ts';
import { CompactionStream } from './compaction-stream.ts';
import { responsesToResponsesReply } from './responses-to-responses-reply.ts';
import { responsesToResponsesRequest } from './responses-to-responses-request.ts';
import { ResponsesToResponsesStream } from './responses-to-responses-stream.ts';

/** Changes only the fields that identify the answer, the fields about stored responses, and content that only one upstream can read. */
export const responsesToResponses: Translation = {
  client: responsesFormat,
  upstream: responsesUpstream,
  passesHeaders: true,
  recallFields: (body) => (requestsCompaction(body) ? toRecalledRequest(body) : { repeated: readRepeatedFields(body) }),
  translateRequest: responsesToResponsesRequest,
  translateReply: responsesToResponsesReply,
  createStream: (answerContext) => {
    const relay = new ResponsesToResponsesStream(answerContext);
    return answerContext.recalled?.['compacts'] === true ? new CompactionStream(answerContext, relay) : relay;
  },
};
