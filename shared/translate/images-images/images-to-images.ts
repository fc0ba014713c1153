import { imagesFormat } from '#shared/formats/images/images-format.ts';
import { refuseStream } from '../refuse-stream.ts';
import type { Translation } from '../translation.ts';
import { imagesUpstream } from '../upstreams/images/images-upstream.ts';
import { answerRules, requestRules } from './field-rules.ts';
import { toPicturesReply } from './pictures-reply.ts';

export const imagesToImages: Translation = {
  client: imagesFormat,
  upstream: imagesUpstream,
  requestRules,
  answerRules,
  passesHeaders: false,
  translateRequest: (body, { model }) => ({ ...body, model }),
  translateReply: toPicturesReply,
  createStream: refuseStream,
};
