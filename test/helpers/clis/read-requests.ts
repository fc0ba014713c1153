import { findTranslation, type ModelTraits, type Translation } from '#shared/translate/translation.ts';

interface Dialogue<Request> {
  translations: readonly Translation<Request>[];
  upstream: Parameters<typeof findTranslation>[2];
}

/** A model with all capabilities. */
export const able = { takesImages: true, takesTools: true, takesSchemas: true };

/** Reads the requests of clients for an agent, each with a question that the given fields may replace. */
export function readRequests<Request>({ translations, upstream }: Dialogue<Request>, model = 'm') {
  const reader =
    (client: string, question: object) =>
    (fields: object, traits: Omit<ModelTraits, 'model'> = able): Request =>
      findTranslation(translations, client, upstream).translateRequest(
        { model: 'auto', ...question, ...fields },
        { model, ...traits },
      );
  const messages = [{ role: 'user', content: 'hi' }];
  return {
    messages: reader('messages', { max_tokens: 10, messages }),
    chat: reader('chat', { messages }),
    responses: reader('responses', { input: 'hi' }),
  };
}
