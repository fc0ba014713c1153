import { post } from '../clients/keyed-requests.ts';

/** Whom to ask, with which key: such as a cluster. */
export interface Asked {
  url: string;
  key: string;
}

/** Asks a model, `demo` unless the fields say otherwise, and reads its answer, which is returned for its status and headers. */
export async function askChat(
  { url, key }: Asked,
  content = 'Hello!',
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const answer = await post({
    url,
    key,
    body: { model: 'demo', messages: [{ role: 'user', content }], ...fields },
    headers,
  });
  await answer.text();
  return answer;
}
