import { z } from 'zod';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-failure.ts';
import type { UpstreamHttp } from '#shared/upstream/upstream-http.ts';
import type { Provider } from './providers/provider.ts';
import { allCapabilities, guessed } from './providers/read-cards.ts';

/** Milliseconds that a list may take; some are long. */
const timeoutMs = 20_000;

/** Where models come from: a provider's list, and the names that the operator wants of it. */
export interface ModelSource {
  provider: Pick<Provider, 'list' | 'guess'>;
  http: Pick<UpstreamHttp, 'get'>;
  /** Names in the order in which they are announced; all that the provider lists when empty. */
  names: readonly string[];
  /** Hears of the status of the list's answer. */
  onStatus: (status: number) => void;
}

/**
 * What the provider serves now. Names that it does not list are served all the same: providers have models that they do not
 * list, and say themselves when there is no such one.
 * @throws UpstreamAnswerError when it does not tell, and the errors of the connection
 */
export async function readModels({ provider, http, names, onStatus }: ModelSource): Promise<ModelInfo[]> {
  const listed = provider.list ? await readList(provider.list, http, onStatus) : [];
  return names.length === 0 ? listed : namedModels({ provider, names }, listed);
}

/** The named models, with what is known of them: from a list, or by their names alone. */
export function namedModels(
  { provider, names }: Pick<ModelSource, 'provider' | 'names'>,
  listed: readonly ModelInfo[],
): ModelInfo[] {
  return names.map(
    (name) =>
      listed.find(({ id }) => id === name) ??
      guessed(name, provider.guess) ?? { id: name, capabilities: [...allCapabilities] },
  );
}

async function readList(
  list: NonNullable<Provider['list']>,
  http: ModelSource['http'],
  onStatus: ModelSource['onStatus'],
): Promise<ModelInfo[]> {
  const { status, body } = await http.get(list.path, timeoutMs);
  onStatus(status);
  if (status !== 200) throw new UpstreamAnswerError(`the provider answered ${list.path} with status ${status}`);
  try {
    return list.read(body);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    throw new UpstreamAnswerError(`the provider answered ${list.path} in a shape that is not known`, { cause: error });
  }
}
