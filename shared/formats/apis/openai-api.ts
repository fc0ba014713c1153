import type { ClientApi, ModelCard } from '../client-api.ts';

/** The API of OpenAI's SDKs, with or without `/v1` in the base URL (OpenAI API reference, "Models"). */
export const openaiApi: ClientApi = {
  segment: 'openai',
  segmentSetting: 'CHAT_FAMILY',
  prefixes: ['/v1', ''],
  listModels: (cards) => ({ object: 'list', data: cards.map(modelObject) }),
  showModel: modelObject,
};

function modelObject({ id, created, ownedBy }: ModelCard): object {
  return { id, object: 'model', created, owned_by: ownedBy };
}
