import type { ModelOperation } from '#shared/core/operation.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { refuseStream } from '../refuse-stream.ts';
import type { Translation } from '../translation.ts';
import type { HttpUpstreamFormat } from '../upstream-format.ts';
import { readChatError } from '../upstreams/chat/upstream-error.ts';

export interface SameFormat {
  client: ClientFormat;
  operation: ModelOperation;
  path: string;
  encode?: HttpUpstreamFormat['encode'];
}

/** Creates the upstream format of a client format that upstreams serve as it is. Errors have the form of chat completions. */
export function createSameFormatUpstream({ client, operation, path, encode }: SameFormat): HttpUpstreamFormat {
  return {
    name: client.name,
    operation,
    path,
    headers: {},
    ...(encode && { encode }),
    estimateInput: (request) => client.estimateInput(request),
    readError: readChatError,
  };
}

/**
 * Creates the translation between a client format without streams of events and the same format of upstreams. Unless `fields` has another
 * `translateRequest`, only the model of a request changes.
 */
export function createSameFormatTranslation(
  client: ClientFormat,
  upstream: HttpUpstreamFormat,
  fields: Pick<Translation, 'translateReply'> & Partial<Translation>,
): Translation {
  return {
    client,
    upstream,
    passesHeaders: false,
    translateRequest: (body, { model }) => ({ ...body, model }),
    createStream: refuseStream,
    ...fields,
  };
}
