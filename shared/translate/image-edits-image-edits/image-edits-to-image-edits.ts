import { imageEditsFormat } from '#shared/formats/image-edits/image-edits-format.ts';
import { answerRules } from '../images-images/field-rules.ts';
import { toPicturesReply } from '../images-images/pictures-reply.ts';
import { refuseStream } from '../refuse-stream.ts';
import type { Translation } from '../translation.ts';
import { imageEditsUpstream } from '../upstreams/image-edits/image-edits-upstream.ts';
import { requestRules } from './field-rules.ts';

export const imageEditsToImageEdits: Translation = {
  client: imageEditsFormat,
  upstream: imageEditsUpstream,
  requestRules,
  answerRules,
  passesHeaders: false,
  translateRequest: (body, { model }) => ({ ...body, model }),
  translateReply: toPicturesReply,
  createStream: refuseStream,
};
