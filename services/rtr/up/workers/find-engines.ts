import { z } from 'zod';

const defaultEnginePorts = [
  { name: 'Ollama', port: 11_434 },
  { name: 'vLLM', port: 8000 },
  { name: 'SGLang', port: 30_000 },
  { name: 'LM Studio', port: 1234 },
  { name: 'llama.cpp', port: 8080 },
];

const modelList = z.object({ object: z.literal('list'), data: z.array(z.object({ id: z.string().min(1) })) });

/** An engine. Its URL has no trailing `/v1`. */
export interface Engine {
  /** How the engine was found, such as `default port of Ollama`. */
  origin: string;
  url: string;
}

/** Returns the engines in `ENGINE_URLS`, whether they answer or not. Their workers wait until they do. */
export function listNamedEngines(urls: readonly string[]): Engine[] {
  return urls.map((url) => ({ origin: 'ENGINE_URLS', url: url.replace(/\/+(v1\/*)?$/, '') }));
}

/**
 * Returns the local engines that answer on their default ports within half a second. Tries all ports at once.
 * @param excludedPorts ports to leave out, because the cluster listens there
 */
export async function findLocalEngines(
  excludedPorts: readonly number[],
  engines = defaultEnginePorts,
): Promise<Engine[]> {
  const candidates = engines
    .filter(({ port }) => !excludedPorts.includes(port))
    .map(({ name, port }) => ({ origin: `default port of ${name}`, url: `http://127.0.0.1:${port}` }));
  const answers = await Promise.all(candidates.map(({ url }) => listsModels(url)));
  return candidates.filter((_, index) => answers[index]);
}

/** Whether an engine answers at this address with its list of models, in the form of OpenAI's API. */
export async function listsModels(url: string): Promise<boolean> {
  return (await listModels(url)) !== undefined;
}

/**
 * Returns the ids of an engine's models; undefined if the engine does not answer within half a second.
 * @param apiKey the engine's key, if it requires one
 */
export async function listModels(url: string, apiKey?: string): Promise<string[] | undefined> {
  try {
    const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    const answer = await fetch(`${url}/v1/models`, { headers, signal: AbortSignal.timeout(500), redirect: 'error' });
    if (!answer.ok) {
      await answer.body?.cancel();
      return undefined;
    }
    return modelList.parse(await answer.json()).data.map(({ id }) => id);
  } catch {
    return undefined;
  }
}
