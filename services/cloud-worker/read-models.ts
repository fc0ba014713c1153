import { z } from 'zod';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-failure.ts';
import type { UpstreamHttp } from '#shared/upstream/upstream-http.ts';
import type { Provider } from './providers/provider.ts';
import { withOperations } from './providers/other-formats.ts';
import { allCapabilities, describeByName } from './providers/read-cards.ts';

/** Milliseconds after which reading a list is ended. Some lists are long. */
const timeoutMs = 20_000;

/** A provider's model list, and the names that the operator selects. */
export interface ModelSource {
  provider: Pick<Provider, 'list' | 'guess' | 'format' | 'otherFormats' | 'rules' | 'adaptation'>;
  http: Pick<UpstreamHttp, 'get'>;
  /** Names of the models to announce, in this order; if empty, all models of the list are announced. */
  names: readonly string[];
  onStatus: (status: number) => void;
}

/**
 * Reads the models that the provider serves. A selected name that is not in the list is included, because providers also serve models that
 * they do not list, and refuse unknown models themselves.
 * @throws UpstreamAnswerError if the answer has an unknown form or status; the errors of the connection
 */
export async function readModels({ provider, http, names, onStatus }: ModelSource): Promise<ModelInfo[]> {
  const listedModels = provider.list ? await readList(provider.list, http, onStatus) : [];
  if (names.length > 0) return describeNamedModels({ provider, names }, listedModels);
  return listedModels.map((model) => withOperations(provider, model));
}

/** Returns the selected models. A model that is not in the list is described by its name alone. */
export function describeNamedModels(
  { provider, names }: Pick<ModelSource, 'provider' | 'names'>,
  listedModels: readonly ModelInfo[],
): ModelInfo[] {
  return names.map((name) => {
    const knownModel = listedModels.find(({ id }) => id === name) ?? describeByName(name, provider.guess);
    return withOperations(provider, knownModel ?? { id: name, capabilities: [...allCapabilities] });
  });
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
    throw new UpstreamAnswerError(`the provider answered ${list.path} in an unknown shape`, { cause: error });
  }
}
