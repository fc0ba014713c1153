import { audioTranslationsFormat, transcriptionsFormat } from './transcriptions/transcriptions-format.ts';
import { chatFormat } from './chat/chat-format.ts';
import type { ClientFormat } from './client-format.ts';
import { completionsFormat } from './completions/completions-format.ts';
import { embeddingsFormat } from './embeddings/embeddings-format.ts';
import { imageEditsFormat } from './image-edits/image-edits-format.ts';
import { imagesFormat } from './images/images-format.ts';
import { messagesFormat } from './messages/messages-format.ts';
import { moderationsFormat } from './moderations/moderations-format.ts';
import { rerankFormat } from './rerank/rerank-format.ts';
import { responsesFormat } from './responses/responses-format.ts';
import { speechFormat } from './speech/speech-format.ts';

/**
 * Every client format that the router serves. A new format is one folder and one entry here. The first format writes the errors of requests
 * that belong to no format. See docs/decisions/0001-formats-and-translations.md.
 */
export const clientFormats: readonly [ClientFormat, ...ClientFormat[]] = [
  chatFormat,
  messagesFormat,
  responsesFormat,
  completionsFormat,
  embeddingsFormat,
  rerankFormat,
  moderationsFormat,
  imagesFormat,
  imageEditsFormat,
  speechFormat,
  transcriptionsFormat,
  audioTranslationsFormat,
];
